package dev.latchkey.tree;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Shows everything that an editor holds as one hold, so that a {@link dev.latchkey.Lock} watches it, renews it and reports its
 * loss as it does for any other. Each editor has a resource of its own here.
 *
 * <p>The renewals of several editors go to the store in one call, if it takes many at once.
 */
final class EditorHoldStore implements ExpiringStore {

    /** Small enough for a slow server to answer some in time, large enough to make round trips cheap. */
    private static final int LARGEST_BATCH = 1_000;

    private static final int SWEEP_FROM = 1_024;

    private final Optional<ExpiringStore> expiring;

    /** By resource, what editors hold. They are reached from here alone once the application has dropped the editor. */
    private final ConcurrentMap<String, EditorKeys> held = new ConcurrentHashMap<>();

    private final AtomicInteger sweepAt = new AtomicInteger(SWEEP_FROM);

    EditorHoldStore(PersistingStore store) {
        this.expiring = store.capability(ExpiringStore.class);
    }

    /** An editor holds something that its Lock is about to watch. */
    void begin(String resource, EditorKeys keys) {
        if (held.put(resource, keys) != keys) {
            sweepIfGrown();
        }
    }

    /** An editor holds nothing any more. */
    void end(String resource) {
        held.remove(resource);
    }

    /** Returns how many editors hold something, including those whose lease has run out without a release. */
    int size() {
        return held.size();
    }

    /** Leases that run out without a release must not fill the memory: each time their number has doubled, they go. */
    private void sweepIfGrown() {
        int limit = sweepAt.get();
        if (held.size() >= limit && sweepAt.compareAndSet(limit, Integer.MAX_VALUE)) {
            held.values().removeIf(EditorKeys::isOver);
            sweepAt.set(Math.max(SWEEP_FROM, 2 * held.size()));
        }
    }

    @Override
    public Response save(Request request) {
        EditorKeys keys = held.get(request.key().resource());
        return keys == null
                ? Response.Conflicted.NO_HINT
                : new Response.Granted(request.mode(), OptionalLong.empty(), keys.lease());
    }

    @Override
    public Response refresh(Request request) {
        return renewal(request)
                .map(renewal -> renewal.settle(expiring.orElseThrow().refreshAll(renewal.requests())))
                .orElseGet(EditorHoldStore::over);
    }

    /** {@inheritDoc} The holds of one editor stay together. */
    @Override
    public List<RefreshResult> refreshAll(List<Request> requests, Duration within) {
        long begun = System.nanoTime();
        List<RefreshResult> results = new ArrayList<>();
        List<Optional<EditorRenewal>> batch = new ArrayList<>();
        int size = 0;
        for (Request request : requests) {
            Optional<EditorRenewal> renewal = renewal(request);
            int keys = renewal.map(one -> one.keys().size()).orElse(0);
            if (size > 0 && size + keys > LARGEST_BATCH) {
                results.addAll(renewed(batch, rest(within, begun)));
                batch.clear();
                size = 0;
            }
            batch.add(renewal);
            size += keys;
        }
        results.addAll(renewed(batch, rest(within, begun)));
        return results;
    }

    private static Duration rest(Duration within, long begun) {
        Duration rest = within.minusNanos(System.nanoTime() - begun);
        return rest.isNegative() ? Duration.ZERO : rest;
    }

    private List<RefreshResult> renewed(List<Optional<EditorRenewal>> batch, Duration within) {
        List<Request> all = batch.stream()
                .flatMap(Optional::stream)
                .flatMap(renewal -> renewal.requests().stream())
                .toList();
        List<RefreshResult> answers;
        try {
            answers = expiring.orElseThrow().refreshAll(all, within);
        } catch (RuntimeException e) {
            // Other batches may have been answered.
            return batch.stream()
                    .<RefreshResult>map(renewal -> new RefreshResult.Failed(e))
                    .toList();
        }
        List<RefreshResult> results = new ArrayList<>();
        int from = 0;
        for (Optional<EditorRenewal> renewal : batch) {
            int to = from + renewal.map(one -> one.keys().size()).orElse(0);
            List<RefreshResult> own = answers.subList(from, to);
            results.add(
                    RefreshResult.of(() -> renewal.map(one -> one.settle(own)).orElseGet(EditorHoldStore::over)));
            from = to;
        }
        return results;
    }

    private Optional<EditorRenewal> renewal(Request request) {
        return Optional.ofNullable(held.get(request.key().resource())).map(keys -> keys.renewal(request));
    }

    private static Response over() {
        return new Response.Lost(LossReason.EXPIRED);
    }

    @Override
    public boolean refreshesAtOnce() {
        return expiring.filter(ExpiringStore::refreshesAtOnce).isPresent();
    }

    @Override
    public boolean delete(Key key) {
        EditorKeys keys = held.remove(key.resource());
        return keys != null && keys.releaseAll();
    }

    /** {@inheritDoc} Only called on a store without leases. */
    @Override
    public Optional<Response.Granted> find(Key key) {
        return Optional.ofNullable(held.get(key.resource()))
                .filter(EditorKeys::areHeldInStore)
                .map(keys -> new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.empty(), keys.lease()));
    }

    @Override
    public <T> Optional<T> capability(Class<T> type) {
        boolean isMissing = type == ExpiringStore.class && expiring.isEmpty();
        return isMissing ? Optional.empty() : ExpiringStore.super.capability(type);
    }
}
