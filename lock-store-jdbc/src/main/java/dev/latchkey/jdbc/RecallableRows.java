package dev.latchkey.jdbc;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.ReleaseSubscription;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.spi.SharedStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** A store on PostgreSQL as sticky Locks ask it: whoever waits asks again when it is told to, for there is no queue. */
record RecallableRows(JdbcStore store, HoldWatch watch) implements RecallableStore, ExpiringStore, SharedStore {

    /** The shortest TTL that can be asked for: what is there lasts as long as it would. */
    private static final Duration MOMENT = Duration.ofMillis(1);

    @Override
    public Response save(Request request) {
        return watch.watched(request, store.save(watch.prepared(request)));
    }

    @Override
    public Response refresh(Request request) {
        return watch.watched(request, store.refresh(watch.prepared(request)));
    }

    @Override
    public List<RefreshResult> refreshAll(List<Request> requests) {
        return watched(requests, store.refreshAll(requests));
    }

    @Override
    public List<RefreshResult> refreshAll(List<Request> requests, Duration within) {
        return watched(requests, store.refreshAll(requests, within));
    }

    private List<RefreshResult> watched(List<Request> requests, List<RefreshResult> results) {
        requests.forEach(watch::recallUnlessItListens);
        return results;
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        long end = System.nanoTime() + maxWait.toNanos();
        Semaphore wakes = new Semaphore(0);
        withdrawn.thenRun(wakes::release);
        // A promoter is not told: it has to ask anyway, to keep its mark from lapsing.
        boolean isPromoter = request.key().held().isPresent();
        try (ReleaseSubscription subscription = isPromoter
                ? ReleaseSubscription.never()
                : store.watch(request.key().resource())) {
            Pauses pauses = new Pauses();
            while (true) {
                wakes.drainPermits();
                subscription.next().thenRun(wakes::release);
                boolean isLast = end - System.nanoTime() <= 0
                        || withdrawn.toCompletableFuture().isDone();
                Response response = save(request.with(isLast ? RetryIntent.ONCE : RetryIntent.AGAIN));
                if (isLast || !(response instanceof Response.Conflicted conflict)) {
                    return response;
                }
                long pause = pauses.next(subscription.isWatching(), conflict.retryAfter());
                if (!withdrawn.toCompletableFuture().isDone()) {
                    boolean unused = wakes.tryAcquire(Math.min(pause, end - System.nanoTime()), TimeUnit.NANOSECONDS);
                }
            }
        } catch (InterruptedException e) {
            if (isPromoter) {
                takeMarkAway(request, e);
            }
            throw e;
        }
    }

    /** By a renewal of what it shares, which changes nothing else: a last try could promote it. Else readers would wait for the mark to lapse. */
    private void takeMarkAway(Request promotion, InterruptedException interrupt) {
        Request renewal = new Request(
                promotion.key(),
                LockMode.SHARED,
                MOMENT,
                RetryIntent.ONCE,
                LeaseChange.EXTEND,
                promotion.owner(),
                promotion.sticky());
        try {
            Response unused = store.save(renewal);
        } catch (RuntimeException e) {
            interrupt.addSuppressed(e);
        }
    }

    /** How long a waiter pauses: until it is told, but no longer than the lease; if it is not told, at first for a moment. */
    private static final class Pauses {

        private static final long FIRST_NANOS = Duration.ofMillis(5).toNanos();
        private static final long LONGEST_NANOS = Duration.ofSeconds(1).toNanos();

        /** In case it was not told, or the holder was not told that it is recalled. */
        private static final long WATCHED_NANOS = Duration.ofSeconds(5).toNanos();

        private static final long PAST_THE_HINT_NANOS = Duration.ofMillis(1).toNanos();

        private long next = FIRST_NANOS;

        long next(boolean isWatching, Duration hint) {
            long most = isWatching ? WATCHED_NANOS : next;
            next = isWatching ? FIRST_NANOS : Math.min(2 * next, LONGEST_NANOS);
            long pause = ThreadLocalRandom.current().nextLong(most / 2, most + 1);
            return hint.isZero() ? pause : Math.min(pause, hint.toNanos() + PAST_THE_HINT_NANOS);
        }
    }

    @Override
    public boolean delete(Key key) {
        return store.delete(key);
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return store.find(key);
    }

    /** {@inheritDoc} Here that is nothing: the store is another's. */
    @Override
    public void close() {}
}
