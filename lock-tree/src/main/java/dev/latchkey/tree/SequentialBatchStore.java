package dev.latchkey.tree;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Acquires batches on a store that takes one resource at a time. The resources of a batch are acquired in the order of their
 * names, without waiting. If one is refused, the others are given back. Of batches that conflict, the one that came furthest in
 * this order succeeds, so there is always one that does.
 *
 * <p>Other editors may see a part of a batch for a moment. If the process dies in between, the store keeps this part for as
 * long as it keeps the holds of a dead process.
 */
final class SequentialBatchStore implements BatchStore {

    private final PersistingStore store;
    private final UnansweredDemotions demotions;
    private final Optional<InspectableStore> inspectable;

    SequentialBatchStore(PersistingStore store, UnansweredDemotions demotions) {
        this.store = store;
        this.demotions = demotions;
        this.inspectable = store.capability(InspectableStore.class);
    }

    @Override
    public BatchAttempt saveAll(List<Request> requests) {
        List<Request> ordered = requests.stream()
                .sorted(Comparator.comparing(request -> request.key().resource()))
                .toList();
        Map<Key, Response.Granted> grants = new HashMap<>();
        List<BatchItem> taken = new ArrayList<>();
        for (int i = 0; i < ordered.size(); i++) {
            Request request = ordered.get(i);
            Response response = saveOrGiveBack(request, taken);
            if (!(response instanceof Response.Granted granted)) {
                BatchItem.undo(this, demotions, taken, null);
                return refusal(response, ordered.subList(i, ordered.size()));
            }
            grants.put(request.key(), granted);
            taken.add(BatchItem.granted(request, granted));
        }
        return new BatchAttempt.Granted(
                requests.stream().map(request -> grants.get(request.key())).toList());
    }

    private Response saveOrGiveBack(Request request, List<BatchItem> taken) {
        try {
            return store.save(request);
        } catch (RuntimeException | Error e) {
            taken.add(BatchItem.inDoubt(request));
            BatchItem.undo(this, demotions, taken, e);
            throw e;
        }
    }

    private BatchAttempt refusal(Response response, List<Request> rest) {
        String resource = rest.get(0).key().resource();
        if (response instanceof Response.Lost lost) {
            return new BatchAttempt.Lost(Map.of(resource, lost.reason()));
        }
        Set<String> blocked = new TreeSet<>(Set.of(resource));
        // Only reads: an attempt could make a batch fail that would otherwise succeed.
        inspectable.ifPresent(store -> rest.stream()
                .skip(1)
                .filter(request -> isBlocked(request, store))
                .forEach(request -> blocked.add(request.key().resource())));
        Duration retryAfter = response instanceof Response.Conflicted conflict ? conflict.retryAfter() : Duration.ZERO;
        return new BatchAttempt.Conflicted(blocked, retryAfter);
    }

    private static boolean isBlocked(Request request, InspectableStore store) {
        List<Holder> holders = store.holders(request.key().resource());
        if (request.mode() == LockMode.EXCLUSIVE) {
            return holders.size() > request.key().held().map(own -> 1).orElse(0);
        }
        return request.key().held().isEmpty()
                && holders.stream().anyMatch(holder -> holder.mode() == LockMode.EXCLUSIVE);
    }

    /** {@inheritDoc} All are tried, even after a failure. */
    @Override
    public int deleteAll(List<Key> keys) {
        int held = 0;
        RuntimeException failure = null;
        for (Key key : keys) {
            try {
                held += store.delete(key) ? 1 : 0;
            } catch (RuntimeException e) {
                failure = first(failure, e);
            }
        }
        if (failure != null) {
            throw failure;
        }
        return held;
    }

    private static RuntimeException first(@Nullable RuntimeException before, RuntimeException now) {
        if (before == null) {
            return now;
        }
        if (before != now) {
            before.addSuppressed(now);
        }
        return before;
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
