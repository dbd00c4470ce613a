package dev.latchkey.testkit;

import dev.latchkey.Key;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

/** A store that counts what it is asked; for the contracts of locks that do not ask it. */
class CountedStore implements RecallableStore, ExpiringStore, SharedStore {

    private final RecallableStore store;
    private final AtomicInteger requests = new AtomicInteger();

    CountedStore(RecallableStore store) {
        this.store = store;
    }

    /** How often it was asked so far. */
    int requests() {
        return requests.get();
    }

    @Override
    public Response save(Request request) {
        requests.incrementAndGet();
        return store.save(request);
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        requests.incrementAndGet();
        return store.waitAndSave(request, maxWait, withdrawn);
    }

    @Override
    public Response refresh(Request request) {
        requests.incrementAndGet();
        return store.capability(ExpiringStore.class).orElseThrow().refresh(request);
    }

    @Override
    public long reservedTokens(Request request) {
        return store.reservedTokens(request);
    }

    @Override
    public boolean delete(Key key) {
        requests.incrementAndGet();
        return store.delete(key);
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        requests.incrementAndGet();
        return store.find(key);
    }

    @Override
    public boolean isSpent(Key key) {
        return store.isSpent(key);
    }

    @Override
    public <T> Optional<T> capability(Class<T> type) {
        return List.of(RecallableStore.class, ExpiringStore.class, SharedStore.class)
                        .contains(type)
                ? store.capability(type).isPresent() ? Optional.of(type.cast(this)) : Optional.empty()
                : type.isInstance(this) ? Optional.of(type.cast(this)) : Optional.empty();
    }
}
