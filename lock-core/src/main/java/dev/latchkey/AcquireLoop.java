package dev.latchkey;

import dev.latchkey.LocalWaitQueue.LocalWaiter;
import dev.latchkey.LockListener.Operation;
import dev.latchkey.events.LockEvents;
import dev.latchkey.events.StoreCall;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.HandoffStore;
import dev.latchkey.spi.NotifyingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ReleaseSubscription;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Waits for a grant of a store that has no queue of its own, by asking again; and ends holds, which may end a wait here.
 *
 * <p>Whoever holds something already (a promoter) asks for itself, since those in line may wait for it. Anybody else joins
 * the line, asks as its head with growing pauses, and when the wait is over tries a last time past the line. Where the
 * store tells when to ask, the head pauses until then.
 */
final class AcquireLoop {

    /** How long a call that does not wait for others waits for a lock that may only be kept. */
    private static final Duration RECALL_WAIT = Duration.ofMillis(50);

    private final PersistingStore store;
    private final boolean hasOwnQueue;
    private final Optional<NotifyingStore> notifying;
    private final Optional<HandoffStore> handoff;
    private final LocalWaitQueue waitQueue;
    private final LockEvents events;

    AcquireLoop(PersistingStore store, LocalWaitQueue waitQueue, LockEvents events) {
        this.store = store;
        this.hasOwnQueue = store.capability(BlockingStore.class).isPresent();
        this.notifying = store.capability(NotifyingStore.class);
        this.handoff = store.capability(HandoffStore.class);
        this.waitQueue = waitQueue;
        this.events = events;
    }

    /** Whether others are to ask the store before this request. */
    boolean hasLine(Request request) {
        return !isPromoter(request) && waitQueue.hasLine(request.key().resource());
    }

    /**
     * Waits for what is passed to the request, or an answer of the store that is no conflict.
     *
     * @param hint when the store expects the conflict to end that was met before
     * @return a conflict if the wait is over, or was withdrawn; empty if a hold may have been passed: the store has not
     *     answered whoever passed it
     */
    Optional<Response> await(Request request, Duration hint, Deadline end, CompletionStage<Void> withdrawn)
            throws InterruptedException {
        LocalWaitQueue line = isPromoter(request) ? new LocalWaitQueue() : waitQueue;
        try (LocalWaiter waiter = line.join(request, withdrawn)) {
            Optional<Response> response = await(waiter, hint, end);
            if (response.isEmpty() || !(response.get() instanceof Response.Conflicted)) {
                return response;
            }
        }
        if (withdrawn.toCompletableFuture().isDone()) {
            return Optional.of(Response.Conflicted.NO_HINT);
        }
        try (StoreCall call = events.storeCall(Operation.ACQUIRE)) {
            return Optional.of(call.answered(store.save(request.with(RetryIntent.ONCE))));
        }
    }

    /** It listens from its first question on: whoever is passed a hold before that needs no subscription. */
    private Optional<Response> await(LocalWaiter waiter, Duration hint, Deadline end) throws InterruptedException {
        Request request = waiter.request().with(RetryIntent.AGAIN);
        Backoff backoff = new Backoff();
        long pauseNanos = backoff.nextNanos(hint);
        ReleaseSubscription subscription = null;
        try {
            while (waiter.awaitTurn(pauseNanos, end)) {
                if (waiter.isAnswered()) {
                    waiter.passed().ifPresent(granted -> waiter.granted(request.mode()));
                    return waiter.passed();
                }
                subscription = subscription == null ? subscribe(request) : subscription;
                CompletionStage<?> mayBeFree = subscription.next();
                Response response;
                try (StoreCall call = events.storeCall(Operation.ACQUIRE)) {
                    response = call.answered(store.save(request));
                }
                if (!(response instanceof Response.Conflicted conflict)) {
                    waiter.granted(request.mode());
                    return Optional.of(response);
                }
                mayBeFree.thenRun(waiter::tryNow);
                pauseNanos = subscription.isWatching()
                        ? backoff.watchedNanos(conflict.retryAfter())
                        : backoff.nextNanos(conflict.retryAfter());
            }
            return Optional.of(Response.Conflicted.NO_HINT);
        } finally {
            if (subscription != null) {
                subscription.close();
            }
        }
    }

    /** A promoter is not told: it has to ask anyway, to keep its mark in the store from lapsing. */
    private ReleaseSubscription subscribe(Request request) {
        return isPromoter(request) || notifying.isEmpty()
                ? ReleaseSubscription.never()
                : notifying.get().watch(request.key().resource());
    }

    /**
     * The answer to a request that does not wait for others; if that was refused because of a lock that may only be kept, the
     * answer a moment later: whoever keeps it was just asked to give it back. The interrupt flag is kept; an interrupt ends the
     * wait.
     *
     * @return the answer; empty if a hold may have been passed: the store has not answered whoever passed it
     */
    Optional<Response> awaitRecall(Request request, Response response) {
        boolean isRecalled = response instanceof Response.Conflicted conflict && conflict.isRecalled();
        boolean asksAgain = !hasOwnQueue && request.retryIntent() == RetryIntent.AGAIN;
        return isRecalled && !asksAgain ? awaitRecalled(request, response) : Optional.of(response);
    }

    private Optional<Response> awaitRecalled(Request request, Response refusal) {
        boolean interrupted = Thread.interrupted();
        try {
            return hasOwnQueue
                    ? Optional.of(queue(request))
                    : await(request, Duration.ZERO, Deadline.in(RECALL_WAIT), new CompletableFuture<>());
        } catch (InterruptedException e) {
            interrupted = true;
            return Optional.of(refusal);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Response queue(Request request) throws InterruptedException {
        BlockingStore queue = store.capability(BlockingStore.class).orElseThrow();
        try (StoreCall call = events.storeCall(Operation.WAIT)) {
            return call.answered(
                    queue.waitAndSave(request.with(RetryIntent.AGAIN), RECALL_WAIT, new CompletableFuture<>()));
        }
    }

    private static boolean isPromoter(Request request) {
        return request.key().held().isPresent();
    }

    /**
     * Ends a hold. Who is next in line here is passed it, if the store can do that and nobody elsewhere waits for it; or
     * is woken, for there is no need to pause any longer.
     */
    boolean release(Key key) {
        String resource = key.resource();
        Optional<LocalWaiter> next = canHandOff(key) ? waitQueue.choose(resource) : Optional.empty();
        if (next.isPresent() && handOff(key, next.get())) {
            return true;
        }
        boolean wasOurs;
        try (StoreCall call = events.storeCall(Operation.RELEASE)) {
            wasOurs = call.answered(store.delete(key));
        }
        if (next.isPresent()) {
            waitQueue.releasedForOthers(resource);
        } else {
            shortened(resource);
        }
        return wasOurs;
    }

    /** A lease ends sooner than those in line were told: the head asks again, and learns when. */
    void shortened(String resource) {
        if (!hasOwnQueue) {
            waitQueue.released(resource);
        }
    }

    private boolean canHandOff(Key key) {
        boolean isExclusive =
                key.held().filter(held -> held.mode() == LockMode.EXCLUSIVE).isPresent();
        return isExclusive && handoff.filter(HandoffStore::canHandOff).isPresent();
    }

    private boolean handOff(Key key, LocalWaiter next) {
        try {
            Optional<Response.Granted> granted;
            try (StoreCall call = events.storeCall(Operation.HAND_OFF)) {
                granted = call.answered(handoff.orElseThrow().handOff(key, next.request()));
            }
            granted.ifPresentOrElse(next::handOff, next::passNothing);
            return granted.isPresent();
        } catch (RuntimeException | Error e) {
            next.leaveInDoubt();
            throw e;
        }
    }

    /**
     * How long a polling waiter pauses between two tries: doubling from 5 ms to 1 s, jittered, cut short by a hint. One that
     * is told when to try pauses until the hint, and tries every now and then in case it was not told.
     */
    static final class Backoff {

        private static final long FIRST_NANOS = Duration.ofMillis(5).toNanos();
        private static final long LONGEST_NANOS = Duration.ofSeconds(1).toNanos();
        private static final long WATCHED_NANOS = Duration.ofSeconds(30).toNanos();
        private static final long PAST_THE_HINT_NANOS = Duration.ofMillis(1).toNanos();

        private long next = FIRST_NANOS;

        /**
         * Returns the next pause.
         *
         * @param hint when the store expects the conflict to end; zero: unknown. It only shortens the pause, because the
         *     holder may release sooner
         */
        long nextNanos(Duration hint) {
            long bound = next;
            next = Math.min(2 * next, LONGEST_NANOS);
            return untilHint(hint, jittered(bound));
        }

        /** Returns the pause of one who is told when to try, and begins again with short ones for when it is not. */
        long watchedNanos(Duration hint) {
            next = FIRST_NANOS;
            return untilHint(hint, jittered(WATCHED_NANOS));
        }

        private static long jittered(long bound) {
            return ThreadLocalRandom.current().nextLong(bound / 2, bound + 1);
        }

        private static long untilHint(Duration hint, long pause) {
            boolean hintIsSooner = !hint.isZero() && hint.compareTo(Duration.ofNanos(pause)) < 0;
            return hintIsSooner ? hint.toNanos() + PAST_THE_HINT_NANOS : pause;
        }
    }
}
