package dev.latchkey;

import dev.latchkey.Hold.PendingRequest;
import dev.latchkey.HoldTracker.Acquired;
import dev.latchkey.LockListener.Change;
import dev.latchkey.LockListener.Operation;
import dev.latchkey.events.AcquireCall;
import dev.latchkey.events.AcquireCall.Outcome;
import dev.latchkey.events.StoreCall;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a {@link Lock} does: it asks the store, and turns the answer into a transition of its one {@link LockState}. Apart
 * from the Lock, so that what the factory and its threads keep does not keep the user's Lock reachable.
 */
final class LockEngine {

    /** Asks the store; empty if nobody knows its answer. */
    private interface Ask<X extends Exception> {
        Optional<Response> ask(Request request) throws X;
    }

    /** What was granted, for those who hear of it. */
    private record Grant(HoldTracker tracker, LockMode mode, Change change) {}

    private static final Logger log = LoggerFactory.getLogger("dev.latchkey.Lock");

    /** One may be due to a pause of this process. */
    private static final int LATE_GRANTS_UNTIL_WARNED = 3;

    private final FactoryContext context;
    final OperationMutex mutex = new OperationMutex();
    private final LockState state;
    private final Releaser releaser;
    private final HeldLock held;
    private final LeaseMonitor monitor;

    /** In the turn: what was granted to the call; null if nothing was, or nobody hears of it. */
    private @Nullable Grant granted;

    LockEngine(
            FactoryContext context,
            Key key,
            LockSettings settings,
            LockSettings.Origin origin,
            Optional<ActiveLocks.LeakDetector> leakDetector) {
        this.context = context;
        this.state = new LockState(
                key.boundToProcess(context.processBound()), origin == LockSettings.Origin.RECEIVED, settings);
        this.releaser = new Releaser(context, settings, state, mutex);
        this.held = new HeldLock(context, settings, state, mutex, releaser, leakDetector);
        this.monitor = held.monitor();
    }

    LockState state() {
        return state;
    }

    HeldLock held() {
        return held;
    }

    Outcome tryAcquire(LockMode mode) {
        context.checkOpen();
        AcquireCall call = context.events().acquire(state.resource(), mode);
        try {
            return tryOnce(mode, call);
        } catch (RuntimeException | Error e) {
            call.failed(e);
            throw e;
        }
    }

    private Outcome tryOnce(LockMode mode, AcquireCall call) {
        if (!mutex.takeUnlessWaiting()) {
            return reported(call, Outcome.BUSY);
        }
        try {
            Outcome outcome = endedIfClosed(held.isHeld(), once(context.supported(mode)));
            if (outcome == Outcome.WITHDRAWN) {
                context.checkOpen();
            }
            return reported(call, outcome);
        } finally {
            granted = null;
            mutex.end();
        }
    }

    /** Waits as long as nobody withdraws the wait. */
    Outcome acquire(LockMode mode, Duration maxWait, CompletableFuture<Void> withdrawn) throws InterruptedException {
        context.checkOpen();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        AcquireCall call = context.events().acquire(state.resource(), mode);
        try {
            Deadline end = Deadline.in(maxWait);
            return mutex.takeToWait(withdrawn, end)
                    ? acquireInTurn(mode, end, call, withdrawn).outcome()
                    : reported(call, Outcome.BUSY);
        } catch (InterruptedException | RuntimeException | Error e) {
            call.failed(e);
            throw e;
        }
    }

    /** Acquires in the turn, which has been taken and is ended here. */
    Acquired acquireInTurn(LockMode mode, Deadline end, AcquireCall call, CompletableFuture<Void> withdrawn)
            throws InterruptedException {
        try {
            return new Acquired(reported(call, waitInTurn(mode, end, withdrawn)), state.tracker());
        } catch (InterruptedException e) {
            throw held.brokenOff(e);
        } finally {
            endTurn();
        }
    }

    /** Ends the turn of a call that may have waited. */
    void endTurn() {
        granted = null;
        mutex.end();
        monitor.endOverdue();
    }

    /** Has told how the call has ended, if somebody hears of it. */
    Outcome reported(AcquireCall call, Outcome outcome) {
        Grant grant = outcome == Outcome.GRANTED ? granted : null;
        if (call.isHeard() && grant != null) {
            grant.tracker().tellBegin(context.events(), state.resource(), grant.mode());
            call.acquired(grant.mode(), grant.change());
            context.lookLater();
        } else {
            call.conflicted(outcome);
        }
        return outcome;
    }

    private Outcome waitInTurn(LockMode mode, Deadline end, CompletableFuture<Void> withdrawn)
            throws InterruptedException {
        boolean isHeld = held.isHeld();
        if (isHeld) {
            releaser.promotes(withdrawn);
        }
        held.active().waits();
        try {
            // Looked at again now that close() would find this wait.
            context.checkOpen();
            Outcome outcome = endedIfClosed(isHeld, waiting(context.supported(mode), end, withdrawn));
            if (outcome == Outcome.WITHDRAWN && isHeld) {
                held.checkNotLost();
            }
            return outcome;
        } finally {
            releaser.promotesNothing();
            held.active().waitEnds();
        }
    }

    /** Asks once more if a grant came too late: the store has a connection by then. */
    private Outcome once(LockMode mode) {
        Outcome outcome = takeNow(mode);
        return outcome == Outcome.TOO_LATE ? takeNow(mode) : outcome;
    }

    /** Where nothing is held there is nothing that others could ask about. */
    private Outcome takeNow(LockMode mode) {
        return state.mayHold() ? inFlight(mode) : take(mode, this::save);
    }

    private Outcome inFlight(LockMode mode) {
        return mutex.requests().run(() -> take(mode, this::save));
    }

    private Outcome waiting(LockMode mode, Deadline end, CompletableFuture<Void> withdrawn)
            throws InterruptedException {
        int lateGrants = 0;
        while (true) {
            Outcome outcome = takeOrWait(mode, end, withdrawn);
            if (outcome == Outcome.TOO_LATE && ++lateGrants == LATE_GRANTS_UNTIL_WARNED) {
                log.warn(
                        "lock.granted_too_late resource={} grants={}: the TTL is shorter than the store takes to answer; use a longer one",
                        LockException.shown(state.resource()),
                        lateGrants);
            }
            boolean isToRepeat = outcome == Outcome.IN_DOUBT || outcome == Outcome.TOO_LATE;
            boolean mayRepeat = !end.isOver() || (outcome == Outcome.TOO_LATE && lateGrants == 1);
            if (!isToRepeat || !mayRepeat || withdrawn.isDone()) {
                boolean isConflict = outcome == Outcome.CONFLICTED || outcome == Outcome.IN_DOUBT;
                Outcome conflict = withdrawn.isDone() ? Outcome.WITHDRAWN : Outcome.CONFLICTED;
                return isConflict ? conflict : outcome;
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    /** A holder that renews or demotes waits for nobody. What waits has nothing in flight that minds being overtaken. */
    private Outcome takeOrWait(LockMode mode, Deadline end, CompletableFuture<Void> withdrawn)
            throws InterruptedException {
        Outcome outcome = state.holds(mode) ? inFlight(mode) : Outcome.CONFLICTED;
        return outcome == Outcome.CONFLICTED ? take(mode, request -> waitAndSave(request, end, withdrawn)) : outcome;
    }

    private Optional<Response> save(Request request) {
        Response first;
        try (StoreCall call = context.events().storeCall(Operation.ACQUIRE)) {
            first = call.answered(context.store().save(request));
        }
        return context.acquireLoop().awaitRecall(request, first);
    }

    /** In the store's own queue where it has one. Else it tries once, unless others wait here, and only then waits. */
    private Optional<Response> waitAndSave(Request request, Deadline end, CompletableFuture<Void> withdrawn)
            throws InterruptedException {
        Optional<BlockingStore> queue = context.blocking();
        if (queue.isPresent()) {
            Duration maxWait = end.remaining();
            return maxWait.isZero() ? save(request) : queue(queue.get(), request, maxWait, withdrawn);
        }
        AcquireLoop loop = context.acquireLoop();
        if (loop.hasLine(request)) {
            return loop.await(request, Duration.ZERO, end, withdrawn);
        }
        RetryIntent intent = end.isOver() ? RetryIntent.ONCE : RetryIntent.AGAIN;
        Optional<Response> first = save(request.with(intent));
        // A promoter that said it would ask again does so, also when that has taken its time: else its mark would stay.
        boolean leavesMark = intent == RetryIntent.AGAIN && request.key().held().isPresent();
        return first.isPresent() && first.get() instanceof Response.Conflicted conflict && (leavesMark || !end.isOver())
                ? loop.await(request, conflict.retryAfter(), end, withdrawn)
                : first;
    }

    private Optional<Response> queue(
            BlockingStore store, Request request, Duration maxWait, CompletableFuture<Void> withdrawn)
            throws InterruptedException {
        try (StoreCall call = context.events().storeCall(Operation.WAIT)) {
            try {
                return Optional.of(
                        call.answered(store.waitAndSave(request.with(RetryIntent.AGAIN), maxWait, withdrawn)));
            } catch (InterruptedException e) {
                call.interrupted();
                throw e;
            }
        }
    }

    private <X extends Exception> Outcome take(LockMode mode, Ask<X> ask) throws X {
        long start = log.isDebugEnabled() ? System.nanoTime() : 0;
        PendingRequest pending = held.beginAcquire(mode);
        Response response;
        LeaseMonitor.Asking asking = monitor.asking();
        try (asking) {
            response = ask.ask(pending.request(mode, context.owner())).orElse(null);
        } catch (RuntimeException | Error e) {
            notAnswered(pending, e);
            throw e;
        }
        if (response == null) {
            notAnswered(pending, null);
            return Outcome.IN_DOUBT;
        }
        return settled(pending, mode, response, start);
    }

    void notAnswered(PendingRequest pending, @Nullable Throwable failure) {
        releaser.notAnswered(pending, failure);
        monitor.throwIfLost(pending, failure);
    }

    /** Turns the answer of the store into a transition. */
    Outcome settled(PendingRequest pending, LockMode mode, Response response, long start) {
        state.unanswered().answered(pending);
        if (response instanceof Response.Granted granted) {
            return granted(pending, mode, granted, start);
        }
        if (response instanceof Response.Lost lost) {
            throw monitor.lost(pending, lost.reason(), "it was no longer held when it was acquired again");
        }
        if (pending.holds(mode)) {
            throw monitor.lost(pending, LossReason.TAKEN_OVER, "another key held it when it was acquired again");
        }
        // What others hold does not say that this is gone, as this thread may just have found out.
        state.lastLoss().check(state.resource());
        if (log.isDebugEnabled()) {
            log.debug("lock.conflicted resource={} mode={}", LockException.shown(state.resource()), mode);
        }
        return response instanceof Response.Refused ? Outcome.REFUSED : Outcome.CONFLICTED;
    }

    private Outcome granted(PendingRequest pending, LockMode mode, Response.Granted answer, long start) {
        Hold hold = pending.atMost(mode, Hold.of(answer));
        if (pending.isFresh() && hold.isOver()) {
            releaser.giveBack(pending.key(), null);
            return Outcome.TOO_LATE;
        }
        HoldTracker tracker = held.takeOver(pending, hold);
        if (log.isDebugEnabled()) {
            log.debug(
                    "lock.acquired resource={} mode={} fencingToken={} ttlMs={} waitedMs={}",
                    LockException.shown(state.resource()),
                    hold.mode(),
                    hold.fencingToken(),
                    pending.ttl().toMillis(),
                    (System.nanoTime() - start) / 1_000_000);
        }
        granted = context.events().isOn() ? new Grant(tracker, hold.mode(), pending.changeTo(hold.mode())) : null;
        return Outcome.GRANTED;
    }

    /** The factory may have been closed while the store was asked: it did not know of this hold then. */
    Outcome endedIfClosed(boolean wasHeld, Outcome outcome) {
        return outcome == Outcome.GRANTED && held.endsIfClosed(wasHeld) ? Outcome.WITHDRAWN : outcome;
    }
}
