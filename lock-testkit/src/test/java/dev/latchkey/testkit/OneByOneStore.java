package dev.latchkey.testkit;

import dev.latchkey.Key;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.IndexStore;
import dev.latchkey.spi.IndexedBatchStore;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.store.InMemoryStore;
import java.util.Optional;

/** A store that takes one resource at a time, and keeps state indexes apart from holds. */
record OneByOneStore(InMemoryStore store, InMemoryStore indexes) implements PersistingStore {

    OneByOneStore() {
        this(new InMemoryStore(), new InMemoryStore());
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
        if (type == IndexStore.class) {
            return Optional.of(type.cast(indexes));
        }
        if (type == BatchStore.class || type == IndexedBatchStore.class) {
            return Optional.empty();
        }
        boolean isKnown = type == SharedStore.class || type == ExpiringStore.class || type == InspectableStore.class;
        return isKnown ? store.capability(type) : Optional.empty();
    }
}
