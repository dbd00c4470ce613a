package dev.latchkey.multi;

import dev.latchkey.Key;
import dev.latchkey.LossReason;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Shows several resources as one, to one Lock, so that it acquires, watches, renews and releases all of them as it does any
 * other: all are held, or none. They are held exclusively. Thread-safe.
 */
public final class MultiLockStore implements ExpiringStore, BlockingStore {

    private static final int LONGEST_NAME = 1_000;

    private final PersistingStore store;
    private final List<String> resources;
    private final AllOrNone requests;
    private final Optional<ExpiringStore> expiring;
    private final Optional<BlockingStore> queue;

    /** What the Lock holds, or last asked for; null if nothing. A Lock has one request in flight. */
    private volatile @Nullable Parts parts;

    /**
     * Creates a view of several resources of a store.
     *
     * @param store keeps the holds
     * @param resources at least one, each once
     */
    public MultiLockStore(PersistingStore store, List<String> resources) {
        this.store = store;
        this.resources = resources.stream().sorted().toList();
        this.requests = new AllOrNone(store);
        this.expiring = store.capability(ExpiringStore.class);
        this.queue = store.capability(BlockingStore.class);
    }

    /**
     * Returns the name under which several resources are shown as one.
     *
     * @param resources any names
     * @return the names, or the first of them if they are too many to be read
     */
    public static String name(List<String> resources) {
        String all = String.join(", ", resources.stream().sorted().toList());
        if (all.length() <= LONGEST_NAME) {
            return all;
        }
        int end = Character.isHighSurrogate(all.charAt(LONGEST_NAME - 1)) ? LONGEST_NAME - 1 : LONGEST_NAME;
        return all.substring(0, end) + "… (" + resources.size() + " resources, " + Integer.toHexString(all.hashCode())
                + ")";
    }

    /**
     * Returns the fencing tokens of what is held.
     *
     * @return by resource; empty if nothing is held, or the store has no reliable tokens
     */
    public Map<String, Long> fencingTokens() {
        Parts held = parts;
        return held == null ? Map.of() : held.fencingTokens();
    }

    @Override
    public Response save(Request request) {
        Parts asked = begin(request);
        return asked == null ? gone() : settled(asked, saved(request, asked));
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Parts asked = begin(request);
        if (asked == null) {
            return gone();
        }
        BatchAttempt attempt = saved(request, asked);
        if (!(attempt instanceof BatchAttempt.Conflicted conflict)
                || request.key().held().isPresent()) {
            return settled(asked, attempt);
        }
        PartWait wait = new PartWait(queue.orElseThrow(), requests);
        try {
            PartWait.Result result = wait.await(request, asked, conflict, maxWait, withdrawn);
            return settled(result.parts(), result.attempt());
        } catch (RuntimeException | Error e) {
            parts = null;
            throw e;
        }
    }

    /** Null if what the request claims is not held. */
    private @Nullable Parts begin(Request request) {
        Parts last = parts;
        Parts known = last != null && last.isOf(request.key()) ? last : null;
        if (request.key().held().isPresent()) {
            return known;
        }
        Parts asked = known == null ? Parts.fresh(request.key(), resources) : known.released();
        parts = asked;
        return asked;
    }

    /** After a failure there is nothing to give back any more: that was tried, and what is left ends with its lease. */
    private BatchAttempt saved(Request request, Parts asked) {
        try {
            return requests.save(asked.requests(request.with(RetryIntent.ONCE)));
        } catch (RuntimeException | Error e) {
            if (request.key().held().isEmpty()) {
                parts = null;
            }
            throw e;
        }
    }

    private Response settled(Parts asked, BatchAttempt attempt) {
        if (attempt instanceof BatchAttempt.Granted granted) {
            Parts held = asked.holding(granted.grants());
            parts = held;
            return held.together(granted.grants());
        }
        if (attempt instanceof BatchAttempt.Lost lost) {
            return new Response.Lost(lost.reasons().values().iterator().next());
        }
        return attempt instanceof BatchAttempt.Conflicted conflict
                ? new Response.Conflicted(conflict.retryAfter(), conflict.isRecalled())
                : Response.Conflicted.NO_HINT;
    }

    private static Response gone() {
        return new Response.Lost(LossReason.RELEASED_ELSEWHERE);
    }

    /** {@inheritDoc} What is left of a hold that was lost in part is released as well. */
    @Override
    public boolean delete(Key key) {
        Parts held = parts;
        if (held == null || !held.isOf(key)) {
            return false;
        }
        parts = null;
        return requests.delete(held.keys()) == held.keys().size();
    }

    @Override
    public Response refresh(Request request) {
        return refresh(request, Optional.empty());
    }

    @Override
    public List<RefreshResult> refreshAll(List<Request> all, Duration within) {
        return all.stream()
                .map(request -> RefreshResult.of(() -> refresh(request, Optional.of(within))))
                .toList();
    }

    @Override
    public boolean refreshesAtOnce() {
        return expiring.filter(ExpiringStore::refreshesAtOnce).isPresent();
    }

    private Response refresh(Request request, Optional<Duration> within) {
        Parts held = parts;
        if (held == null || !held.isOf(request.key())) {
            return gone();
        }
        ExpiringStore leases = expiring.orElseThrow();
        List<Request> each = held.requests(request);
        List<RefreshResult> results =
                within.isPresent() ? leases.refreshAll(each, within.get()) : leases.refreshAll(each);
        List<Response.Granted> grants = new ArrayList<>();
        RuntimeException failure = null;
        for (RefreshResult result : results) {
            if (result instanceof RefreshResult.Failed failed) {
                failure = failed.failure();
            } else if (((RefreshResult.Answered) result).response() instanceof Response.Granted granted) {
                grants.add(granted);
            } else {
                return ((RefreshResult.Answered) result).response();
            }
        }
        if (failure != null) {
            throw failure;
        }
        return held.together(grants);
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        Parts held = parts;
        if (held == null || !held.isOf(key)) {
            return Optional.empty();
        }
        List<Response.Granted> found = new ArrayList<>();
        for (Key part : held.keys()) {
            Optional<Response.Granted> one = store.find(part);
            if (one.isEmpty()) {
                return Optional.empty();
            }
            found.add(one.get());
        }
        return Optional.of(held.together(found));
    }

    @Override
    public boolean isSpent(Key key) {
        Parts last = parts;
        return last != null && last.isOf(key) && last.keys().stream().anyMatch(store::isSpent);
    }

    @Override
    public <T> Optional<T> capability(Class<T> type) {
        boolean isMissing =
                (type == ExpiringStore.class && expiring.isEmpty()) || (type == BlockingStore.class && queue.isEmpty());
        return isMissing ? Optional.empty() : ExpiringStore.super.capability(type);
    }
}
