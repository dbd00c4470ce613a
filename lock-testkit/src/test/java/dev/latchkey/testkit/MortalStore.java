package dev.latchkey.testkit;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.IndexedBatchStore;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StateCheck;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.store.InMemoryStore;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** The way of one editor to a store, which ends with the editor: before a call takes effect, or after. */
final class MortalStore implements SharedStore, ExpiringStore, InspectableStore, IndexedBatchStore {

    /** What of the store is shown. */
    enum Batching {
        /** Batches, with holds and indexes in one place. */
        ALL_AT_ONCE,
        /** Batches, and indexes that are asked separately. */
        INDEXES_APART,
        /** One resource at a time. */
        ONE_BY_ONE
    }

    private final InMemoryStore store;
    private final Batching batching;
    private final Set<Key> touched = new HashSet<>();
    private List<Key> lastBatch = List.of();
    private int callsLeft = Integer.MAX_VALUE;
    private boolean lastTakesEffect;
    private boolean dead;

    MortalStore(InMemoryStore store, Batching batching) {
        this.store = store;
        this.batching = batching;
    }

    void dieAfter(int calls, boolean theLastTakesEffect) {
        callsLeft = calls;
        lastTakesEffect = theLastTakesEffect;
    }

    void live() {
        callsLeft = Integer.MAX_VALUE;
    }

    /** Whether of the last batch that took anything all is held, or nothing. */
    boolean isWhole() {
        long held =
                lastBatch.stream().filter(key -> store.find(key).isPresent()).count();
        return held == 0 || held == lastBatch.size();
    }

    void endLeases() {
        touched.forEach(store::delete);
    }

    private <T> T call(Supplier<T> work) {
        if (dead || callsLeft == 0) {
            boolean takesEffect = !dead && lastTakesEffect;
            dead = true;
            if (takesEffect) {
                T unused = work.get();
            }
            throw new LockStorageException("model", "the editor is dead", null);
        }
        callsLeft--;
        return work.get();
    }

    @Override
    public Response save(Request request) {
        touched.add(request.key());
        return call(() -> store.save(request));
    }

    @Override
    public Response refresh(Request request) {
        return call(() -> store.refresh(request));
    }

    @Override
    public boolean delete(Key key) {
        return call(() -> store.delete(key));
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return call(() -> store.find(key));
    }

    @Override
    public List<Holder> holders(String resource) {
        return call(() -> store.holders(resource));
    }

    @Override
    public BatchAttempt saveAll(List<Request> requests) {
        touch(requests);
        return call(() -> store.saveAll(requests));
    }

    @Override
    public BatchAttempt saveAll(List<Request> requests, StateCheck check) {
        touch(requests);
        return call(() -> store.saveAll(requests, check));
    }

    private void touch(List<Request> requests) {
        requests.forEach(request -> touched.add(request.key()));
        lastBatch = requests.stream()
                .filter(request -> request.key().held().isEmpty())
                .map(Request::key)
                .toList();
    }

    @Override
    public int deleteAll(List<Key> keys) {
        return call(() -> store.deleteAll(keys));
    }

    @Override
    public Map<String, StateIndex> indexes(Collection<String> resources) {
        return call(() -> store.indexes(resources));
    }

    @Override
    public void raise(Map<String, StateIndex> indexes) {
        boolean unused = call(() -> {
            store.raise(indexes);
            return true;
        });
    }

    @Override
    public <T> Optional<T> capability(Class<T> type) {
        boolean isHidden = (type == IndexedBatchStore.class && batching != Batching.ALL_AT_ONCE)
                || (type == BatchStore.class && batching == Batching.ONE_BY_ONE);
        return isHidden ? Optional.empty() : SharedStore.super.capability(type);
    }
}
