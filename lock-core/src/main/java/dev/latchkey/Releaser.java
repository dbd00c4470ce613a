package dev.latchkey;

import dev.latchkey.Effect.ReleasedHold;
import dev.latchkey.Hold.PendingRequest;
import dev.latchkey.LockListener.Operation;
import dev.latchkey.events.StoreCall;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends in the store what a Lock has let go of: the store forgets it, or keeps it for the rest of the min hold. */
final class Releaser {

    /**
     * How a hold was given up.
     *
     * @param reason why it had been lost; null if it had not
     */
    record Result(Kind kind, @Nullable LossReason reason) {

        enum Kind {
            NOTHING_HELD,
            WAS_OURS,
            WAS_LOST,
            WAS_LOST_AND_TOLD
        }

        static final Result NOTHING_HELD = new Result(Kind.NOTHING_HELD, null);
        static final Result WAS_OURS = new Result(Kind.WAS_OURS, null);
    }

    private static final Logger log = LoggerFactory.getLogger("dev.latchkey.Lock");

    private final FactoryContext context;
    private final LockSettings settings;
    private final LockState state;
    private final OperationMutex mutex;

    /** Ends the wait of one who holds something already. */
    private volatile @Nullable CompletableFuture<Void> promoting;

    Releaser(FactoryContext context, LockSettings settings, LockState state, OperationMutex mutex) {
        this.context = context;
        this.settings = settings;
        this.state = state;
        this.mutex = mutex;
    }

    /** In the Lock's turn and flight. */
    Result end(ReleasedHold released) {
        if (released.loss() != null) {
            endQuietly(Optional.ofNullable(released.key()));
            boolean isTold = released.notice() == Effect.Notice.THROWN;
            return new Result(isTold ? Result.Kind.WAS_LOST_AND_TOLD : Result.Kind.WAS_LOST, released.loss());
        }
        if (released.key() == null) {
            return Result.NOTHING_HELD;
        }
        if (endInStore(released.key(), restOfMinHold(released))) {
            return Result.WAS_OURS;
        }
        Hold held = released.held();
        return new Result(Result.Kind.WAS_LOST, held == null ? LossReason.RELEASED_ELSEWHERE : held.whyGone());
    }

    private Duration restOfMinHold(ReleasedHold released) {
        return released.tracker() == null ? Duration.ZERO : released.tracker().restOf(settings.minHold());
    }

    private boolean endInStore(Key key, Duration rest) {
        boolean wasOurs;
        try {
            wasOurs = rest.compareTo(Deadline.SHORTEST_TTL) > 0 ? leave(key, rest) : delete(key);
        } catch (RuntimeException | Error e) {
            state.renewKey();
            throw e;
        }
        if (log.isDebugEnabled()) {
            log.debug("lock.released resource={} wasOurs={}", LockException.shown(key.resource()), wasOurs);
        }
        return wasOurs;
    }

    /** The rest is nobody's any more: this Lock has to wait for its end like all others. */
    private boolean leave(Key key, Duration rest) {
        LockMode mode = key.held().map(Key.Held::mode).orElse(LockMode.EXCLUSIVE);
        Request request = new Request(key, mode, rest, RetryIntent.ONCE, LeaseChange.SET, context.owner());
        Response response;
        try (StoreCall call = context.events().storeCall(Operation.REFRESH)) {
            response = call.answered(context.expiring()
                    .orElseThrow(() -> new IllegalStateException("a min hold without leases"))
                    .refresh(request));
        }
        state.renewKey();
        context.acquireLoop().shortened(key.resource());
        return response instanceof Response.Granted;
    }

    private boolean delete(Key key) {
        // Those who wait with a closed factory are sent away.
        return context.isClosed() ? deleteNow(key) : context.acquireLoop().release(key);
    }

    private boolean deleteNow(Key key) {
        try (StoreCall call = context.events().storeCall(Operation.RELEASE)) {
            return call.answered(context.store().delete(key));
        }
    }

    /** In the Lock's turn and flight. A delete that was not answered may come late: its token is not used again. */
    private void endQuietly(Optional<Key> overdue) {
        try {
            overdue.ifPresent(this::delete);
        } catch (RuntimeException e) {
            state.renewKey();
            logFailure(e);
        }
    }

    /**
     * The store keeps a hold a little longer than it is believed here. It is not taken again as if it were a new one: that
     * would have the old fencing token, and overtake who waits.
     */
    void endOverdueBeforeAcquire() {
        if (state.isOverdueOfOthers()) {
            return;
        }
        interruptWorkers(null);
        state.lastLoss().takeOverdue().ifPresent(key -> {
            try {
                boolean unused = context.acquireLoop().release(key);
            } catch (RuntimeException | Error e) {
                state.renewKey();
                throw e;
            }
        });
    }

    /** A request to acquire was not answered. What it may take yet is given back; what it gives up stays given up. */
    void notAnswered(PendingRequest pending, @Nullable Throwable failure) {
        if (failure != null && LockStorageException.isUndone(failure)) {
            state.undone(pending);
        } else if (pending.isFresh()) {
            giveBack(pending.key(), failure);
        } else {
            state.failed(pending);
        }
    }

    /** Ends what an unanswered or late grant may have left. The token is not used again, whatever comes of it. */
    void giveBack(Key key, @Nullable Throwable cause) {
        interruptWorkers(null);
        try {
            boolean unused = deleteNow(key);
        } catch (RuntimeException e) {
            Optional.ofNullable(cause).filter(first -> first != e).ifPresent(first -> first.addSuppressed(e));
        } finally {
            state.renewKey();
        }
    }

    /** Somebody waits to have what is held promoted, which the signal ends. */
    void promotes(CompletableFuture<Void> signal) {
        promoting = signal;
    }

    void promotesNothing() {
        if (promoting != null) {
            promoting = null;
        }
    }

    /**
     * Whether a hold that was over by its max hold, or by a look at the clock of its session, is in the store still, and no
     * lease ends it there. Who else knows the key of a session that seemed to be over may have acquired anew with it, and
     * would not be told of a release: to them it is left.
     */
    boolean hasOverdueToEnd() {
        LastLoss last = state.lastLoss();
        boolean isSessionLost =
                last.reason().filter(LossReason.SESSION_LOST::equals).isPresent();
        return last.isOverdue() && (isSessionLost ? !state.isOverdueOfOthers() : settings.hasMaxHold());
    }

    /** Whoever waits to have it promoted waits in vain; when that wait has ended, this is done again. */
    void endOverdue() {
        CompletableFuture<Void> wait = promoting;
        if (wait != null && state.lastLoss().isOverdue()) {
            wait.complete(null);
        }
        if (mutex.takeUnlessWaiting()) {
            try {
                Object unused = mutex.requests().run(() -> {
                    endOverdueInTurn();
                    return this;
                });
            } finally {
                mutex.end();
            }
        }
    }

    /** In the Lock's turn and flight. */
    void endOverdueInTurn() {
        if (hasOverdueToEnd()) {
            interruptWorkers(null);
            endQuietly(state.lastLoss().takeOverdue());
        }
    }

    /**
     * In the Lock's turn: who worked under what is lost is interrupted before the store lets a rival in.
     *
     * @param knows who needs no interrupt; null if nobody
     */
    void interruptWorkers(@Nullable Thread knows) {
        state.lastLoss().takeInterrupting().forEach(lost -> {
            try {
                lost.interruptsNow(knows);
            } catch (Throwable e) {
                // Of what the interrupt has closed, which is not ours, and must not keep the hold in the store.
                log.warn("lock.interrupt_failed resource={}", LockException.shown(state.resource()), e);
            }
        });
    }

    void logFailure(RuntimeException failure) {
        log.warn("lock.release_failed resource={}", LockException.shown(state.resource()), failure);
    }
}
