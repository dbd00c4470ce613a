package dev.latchkey.testkit;

import dev.latchkey.Key;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.Optional;

/**
 * Hides that a store can wait, so that a waiting Lock asks again and again: runs the core's waiting loop with any store.
 * All other capabilities stay. Thread-safe.
 */
public final class PollingStore implements PersistingStore {

    private final PersistingStore store;

    /**
     * Wraps a store. {@link #close()} closes it.
     *
     * @param store who answers
     */
    public PollingStore(PersistingStore store) {
        this.store = store;
    }

    @Override
    public Response save(Request request) {
        return store.save(request);
    }

    @Override
    public boolean delete(Key key) {
        return store.delete(key);
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return store.find(key);
    }

    @Override
    public <T> Optional<T> capability(Class<T> type) {
        return type == BlockingStore.class ? Optional.empty() : store.capability(type);
    }

    @Override
    public void close() {
        store.close();
    }
}
