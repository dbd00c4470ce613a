package dev.latchkey;

import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the store for a hold, and turns its answer into a transition of the {@link LockState}. */
final class Acquirer {

    /** How it ended. */
    enum Outcome {
        GRANTED,
        CONFLICTED,
        REFUSED,
        WITHDRAWN,
        /** Another thread used the Lock, and the store was not asked. */
        BUSY,
        /** Granted, but the lease was over when the answer came; it was given back. */
        TOO_LATE
    }

    @FunctionalInterface
    private interface Ask<X extends Exception> {
        Response ask(Request request) throws X;
    }

    private static final Logger log = LoggerFactory.getLogger(Lock.class);

    private final FactoryContext context;
    private final LockSettings settings;
    private final LockState state;
    private final LeaseMonitor monitor;
    private final RequestMutex requestMutex;

    Acquirer(
            FactoryContext context,
            LockSettings settings,
            LockState state,
            LeaseMonitor monitor,
            RequestMutex requestMutex) {
        this.context = context;
        this.settings = settings;
        this.state = state;
        this.monitor = monitor;
        this.requestMutex = requestMutex;
    }

    /** Asks once more if a grant came too late: the store has a connection by then. */
    Outcome once(LockMode wanted) {
        LockMode mode = context.supported(wanted);
        Outcome outcome = takeNow(mode);
        return outcome == Outcome.TOO_LATE ? takeNow(mode) : outcome;
    }

    /** Where nothing is held there is nothing that others could ask about. */
    private Outcome takeNow(LockMode mode) {
        return state.mayHold() ? inFlight(mode) : take(mode, context.store()::save);
    }

    Outcome waiting(LockMode wanted, Deadline end, CompletableFuture<Void> withdrawn) throws InterruptedException {
        LockMode mode = context.supported(wanted);
        Outcome outcome = takeWaiting(mode, end, withdrawn);
        boolean isFirst = true;
        while (outcome == Outcome.TOO_LATE && (isFirst || !end.isOver()) && !withdrawn.isDone()) {
            isFirst = false;
            outcome = takeWaiting(mode, end, withdrawn);
        }
        return outcome == Outcome.CONFLICTED && withdrawn.isDone() ? Outcome.WITHDRAWN : outcome;
    }

    /** What may have been passed here by a release that was not answered was given back: the wait goes on without it. */
    private Outcome takeWaiting(LockMode mode, Deadline end, CompletableFuture<Void> withdrawn)
            throws InterruptedException {
        while (true) {
            try {
                return takeOrWait(mode, end, withdrawn);
            } catch (LocalWaiter.InDoubtException e) {
                if (end.isOver() || withdrawn.isDone()) {
                    return Outcome.CONFLICTED;
                }
            }
        }
    }

    /** A holder that renews or demotes waits for nobody. What waits has nothing in flight that minds being overtaken. */
    private Outcome takeOrWait(LockMode mode, Deadline end, CompletableFuture<Void> withdrawn)
            throws InterruptedException {
        if (state.holds(mode)) {
            Outcome outcome = inFlight(mode);
            if (outcome != Outcome.CONFLICTED) {
                return outcome;
            }
        }
        return take(mode, request -> context.waiting().save(request, end, withdrawn));
    }

    private Outcome inFlight(LockMode mode) {
        requestMutex.begin();
        try {
            return take(mode, context.store()::save);
        } finally {
            requestMutex.end();
        }
    }

    private static boolean holdsEnough(Key key, LockMode wanted) {
        return key.held()
                .map(held -> held.mode() == LockMode.EXCLUSIVE || wanted == LockMode.SHARED)
                .orElse(false);
    }

    private <X extends Exception> Outcome take(LockMode mode, Ask<X> ask) throws X {
        long start = log.isDebugEnabled() ? System.nanoTime() : 0;
        monitor.noticeExpiry();
        checkNews();
        checkDemoted(mode);
        if (state.isOverdue()) {
            endOverdue();
        }
        Claim claim = unspent(state.claim(mode), mode);
        Duration ttl = settings.bounded(settings.ttl(), claim.watch());
        Response response = ask(claim, new Request(claim.key(), mode, ttl, RetryIntent.ONCE), ask);
        state.answered(claim);
        if (response instanceof Response.Granted granted) {
            return granted(claim, granted, start);
        }
        if (response instanceof Response.Lost lost) {
            throw monitor.lost(claim, lost.reason(), "it was no longer held when it was acquired again");
        }
        if (holdsEnough(claim.key(), mode)) {
            throw monitor.lost(claim, LossReason.TAKEN_OVER, "another key held it when it was acquired again");
        }
        if (log.isDebugEnabled()) {
            log.debug("lock.conflicted resource={} mode={}", LockException.shown(state.resource()), mode);
        }
        return response instanceof Response.Refused ? Outcome.REFUSED : Outcome.CONFLICTED;
    }

    private Claim unspent(Claim claim, LockMode mode) {
        if (!claim.isFresh() || !context.store().isSpent(claim.key())) {
            return claim;
        }
        state.renewKey();
        return state.claim(mode);
    }

    /** A loss that nobody was told of is told before anything is taken in its place. */
    private void checkNews() {
        state.tellLoss().ifPresent(reason -> {
            throw new LockLostException(state.resource(), "it was lost before it was acquired again", reason);
        });
    }

    /**
     * The store keeps a hold a little longer than it is believed here. It is not taken again as if it were a new one: that would
     * have the old fencing token, and overtake who waits.
     */
    private void endOverdue() {
        state.takeOverdueOfOurs().ifPresent(key -> {
            try {
                boolean unused = context.waiting().release(key);
            } catch (RuntimeException | Error e) {
                state.renewKey();
                throw e;
            }
        });
    }

    /** A wait that was withdrawn because what was held is over has to say so, whoever knows it already. */
    void checkNotLost() {
        state.thrown(state.claim()).ifPresent(reason -> {
            throw new LockLostException(state.resource(), "it was lost while it waited for promotion", reason);
        });
    }

    /** A demotion without an answer may come to the store after the promotion. */
    private void checkDemoted(LockMode mode) {
        if (mode == LockMode.EXCLUSIVE && state.mayBeDemoted()) {
            throw new LockStorageException(
                    state.resource(),
                    "an earlier request for a shared hold was not answered and may still demote this hold: release it, then acquire it again",
                    null);
        }
    }

    private <X extends Exception> Response ask(Claim claim, Request request, Ask<X> ask) throws X {
        try {
            return ask.ask(request);
        } catch (RuntimeException | Error e) {
            if (Failures.isUndone(e)) {
                state.answered(claim);
            } else if (claim.isFresh()) {
                giveBack(claim.key(), e);
            } else {
                state.failed(claim);
            }
            monitor.throwIfLost(claim, e);
            throw e;
        }
    }

    private Outcome granted(Claim claim, Response.Granted granted, long start) {
        Hold hold = Hold.of(granted);
        if (hold.isOver()) {
            if (claim.isFresh()) {
                giveBack(claim.key(), null);
                return Outcome.TOO_LATE;
            }
            throw monitor.lost(claim, hold.whyOver(), "its lease ended before the store answered");
        }
        monitor.noticeExpiry();
        if (!claim.isFresh() && !state.isCurrent(claim)) {
            giveBack(claim.key(), null);
            throw monitor.lost(claim, LossReason.RELEASED_ELSEWHERE, "the hold ended before the store answered");
        }
        adopt(claim, hold);
        if (!claim.isFresh() && monitor.isOverAlready()) {
            throw monitor.lost(claim, LossReason.EXPIRED, "an earlier request that was not answered had ended it");
        }
        if (log.isDebugEnabled()) {
            log.debug(
                    "lock.acquired resource={} mode={} fencingToken={} ttlMs={} waitedMs={}",
                    LockException.shown(state.resource()),
                    hold.mode(),
                    hold.fencingToken(),
                    settings.ttl().toMillis(),
                    (System.nanoTime() - start) / 1_000_000);
        }
        return Outcome.GRANTED;
    }

    /** The caller of what fails here believes that nothing was acquired: nothing is to be held, and renewed, for ever. */
    private void adopt(Claim claim, Hold hold) {
        try {
            monitor.adopt(claim, hold, Thread.currentThread());
        } catch (RuntimeException | Error e) {
            if (claim.isFresh()) {
                monitor.letGo();
                giveBack(claim.key(), e);
            }
            throw e;
        }
    }

    /** Ends what an unanswered or late grant may have left. The token is not used again, whatever comes of it. */
    private void giveBack(Key key, @Nullable Throwable cause) {
        try {
            context.store().delete(key);
        } catch (RuntimeException e) {
            Optional.ofNullable(cause).filter(first -> first != e).ifPresent(first -> first.addSuppressed(e));
        } finally {
            state.renewKey();
        }
    }
}
