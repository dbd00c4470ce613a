package dev.latchkey.tree;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A store that renews many holds at once, and notes how many each call renewed. */
final class BatchCounter implements SharedStore, ExpiringStore, BatchStore {

    private final InMemoryStore store;
    private final List<Integer> renewals = new CopyOnWriteArrayList<>();

    private final Map<String, Key> acquired = new ConcurrentHashMap<>();

    private volatile boolean failsNext;

    BatchCounter(InMemoryStore store) {
        this.store = store;
    }

    /** Ends a hold that the last batch for its resource granted, past its holder. */
    void takeAway(String resource) {
        Key key = acquired.remove(resource);
        if (key == null || !store.delete(key)) {
            throw new IllegalStateException(resource + " was not held");
        }
    }

    /** The next batch does not come to the store. */
    void failNext() {
        failsNext = true;
    }

    List<Integer> renewals() {
        return renewals;
    }

    @Override
    public List<RefreshResult> refreshAll(List<Request> requests, Duration within) {
        renewals.add(requests.size());
        return store.refreshAll(requests, within);
    }

    @Override
    public boolean refreshesAtOnce() {
        return true;
    }

    @Override
    public Response refresh(Request request) {
        return store.refresh(request);
    }

    @Override
    public BatchAttempt saveAll(List<Request> requests) {
        if (failsNext) {
            failsNext = false;
            throw new LockStorageException(requests.get(0).key().resource(), "planted", null);
        }
        requests.forEach(request -> acquired.put(request.key().resource(), request.key()));
        return store.saveAll(requests);
    }

    @Override
    public int deleteAll(List<Key> keys) {
        return store.deleteAll(keys);
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
}
