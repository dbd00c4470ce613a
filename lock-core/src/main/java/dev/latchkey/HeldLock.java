package dev.latchkey;

import dev.latchkey.Effect.ReleasedHold;
import dev.latchkey.Hold.PendingRequest;
import dev.latchkey.LockListener.End;
import dev.latchkey.LockListener.Operation;
import dev.latchkey.LockSettings.AutoRelease;
import dev.latchkey.LockSettings.OnLoss;
import dev.latchkey.events.StoreCall;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** What the calls of a Lock do about what it holds: take it over, look for it, refresh it, listen for its end, let go of it. */
final class HeldLock implements ActiveLocks.Holder {

    private final FactoryContext context;
    private final LockSettings settings;
    private final LockState state;
    private final OperationMutex mutex;
    private final ActiveLocks.Entry active;
    private final Releaser releaser;
    private final LeaseMonitor monitor;
    private final Refresher refresher;

    HeldLock(
            FactoryContext context,
            LockSettings settings,
            LockState state,
            OperationMutex mutex,
            Releaser releaser,
            Optional<ActiveLocks.LeakDetector> leakDetector) {
        this.context = context;
        this.settings = settings;
        this.state = state;
        this.mutex = mutex;
        this.releaser = releaser;
        this.active = context.active().entry(this, leakDetector);
        this.monitor = new LeaseMonitor(context.threads(), settings, state, releaser, active);
        this.refresher = new Refresher(context, settings, state, monitor, mutex.requests());
    }

    ActiveLocks.Entry active() {
        return active;
    }

    LeaseMonitor monitor() {
        return monitor;
    }

    @Override
    public String resource() {
        return state.resource();
    }

    @Override
    public boolean isHeld() {
        return state.hold().isPresent();
    }

    @Override
    public void look() {
        boolean unused = monitor.run(state.look());
    }

    /** {@inheritDoc} Also if nobody has noticed the end of its max hold yet. */
    @Override
    public boolean hasToEnd() {
        return releaser.hasOverdueToEnd()
                || (settings.hasMaxHold() && state.tracker().isPresent());
    }

    /**
     * Begins a request to acquire. What is held may end meanwhile: that, too, is told, and ended in the store, before anything is
     * taken in its place.
     */
    PendingRequest beginAcquire(LockMode mode) {
        boolean wasHeld = monitor.run(state.look());
        state.lastLoss().check(state.resource());
        state.unanswered().check(state.resource(), mode);
        if (state.lastLoss().isOverdue()) {
            releaser.endOverdueBeforeAcquire();
        }
        PendingRequest pending = monitor.run(state.begin(mode));
        if (wasHeld && pending.isFresh()) {
            return beginAcquire(mode);
        }
        if (!pending.isFresh() || !context.store().isSpent(pending.key())) {
            return pending;
        }
        state.renewKey();
        return monitor.run(state.begin(mode));
    }

    /**
     * Takes over what the store granted to a thread that is going to work under it.
     *
     * @throws LockLostException if what is held, or was, has ended meanwhile
     */
    HoldTracker takeOver(PendingRequest pending, Hold granted) {
        if (!pending.isFresh() && granted.isOver()) {
            // Ends what is over as such: the store may keep it, and would give the same token to the next acquire.
            look();
            throw monitor.lost(pending, granted.whyOver(), "its lease ended before the store answered");
        }
        Optional<HoldTracker> tracker = begins(pending, granted);
        if (tracker.isEmpty()) {
            releaser.giveBack(pending.key(), null);
            throw monitor.lost(pending, LossReason.RELEASED_ELSEWHERE, "the hold ended before the store answered");
        }
        if (!pending.isFresh() && !monitor.run(state.look())) {
            throw monitor.lost(pending, LossReason.EXPIRED, "an earlier request that was not answered had ended it");
        }
        tracker.get().claim(pending.isFresh());
        return tracker.get();
    }

    /** Empty if it has ended meanwhile. */
    private Optional<HoldTracker> begins(PendingRequest pending, Hold hold) {
        try {
            return adopt(pending, hold);
        } catch (RuntimeException | Error e) {
            // The caller believes that nothing was acquired: nothing is to be held, and renewed, for ever.
            if (pending.isFresh()) {
                Object unused = monitor.run(state.letGo());
                releaser.giveBack(pending.key(), e);
            }
            throw e;
        }
    }

    private Optional<HoldTracker> adopt(PendingRequest pending, Hold hold) {
        Optional<HoldTracker> tracker = monitor.run(state.granted(pending, hold));
        tracker.ifPresent(current -> {
            refresher.renewInTime(current, hold.deadline());
            if (settings.onLoss() == OnLoss.IS_INTERRUPTED) {
                current.interruptsOnLoss(Thread.currentThread());
            }
        });
        return tracker;
    }

    /** A wait that was withdrawn because what was held is over has to say so, whoever knows it already. */
    void checkNotLost() {
        state.lastLoss().thrown(monitor.run(state.begin())).ifPresent(reason -> {
            throw new LockLostException(resource(), "it was lost while it waited for promotion", reason);
        });
    }

    /** Who counts on what was held before the wait is told of its loss instead, and stays interrupted. */
    InterruptedException brokenOff(InterruptedException interruption) {
        state.lastLoss().tell().ifPresent(reason -> {
            Thread.currentThread().interrupt();
            throw new LockLostException(resource(), "it was lost while it waited for promotion", reason);
        });
        return interruption;
    }

    void refresh(Duration ttl) {
        refresher.refresh(ttl);
        checkOpenUnlessHeld();
    }

    void refresh(Duration ttl, Duration minHold) {
        refresher.refresh(ttl, minHold);
        checkOpenUnlessHeld();
    }

    private void checkOpenUnlessHeld() {
        endIfClosed();
        if (!isHeld()) {
            context.checkOpen();
        }
    }

    /** The factory did not know, when it was closed, of what was received and is found to be held only now. */
    private void endIfClosed() {
        if (context.isClosed() && active.isKnown()) {
            end();
        }
    }

    void listen(Consumer<? super LossReason> listener) {
        monitor.run(state.listen(listener)).ifPresent(reason -> monitor.tell(List.of(listener), reason));
    }

    boolean isAcquired() {
        PendingRequest pending = monitor.run(state.begin());
        if (!pending.isFresh()) {
            Optional<Response.Granted> found = find(pending);
            if (found.isEmpty()) {
                LossReason why = state.hold().map(Hold::whyGone).orElse(LossReason.RELEASED_ELSEWHERE);
                monitor.announce(state.lose(pending, why));
                if (isHeld()) {
                    // Taken since the store was asked.
                    return isAcquired();
                }
            } else if (pending.adopted()) {
                // Unless it was handed over or released meanwhile.
                boolean unused = refresher.confirm(pending, Hold.of(found.get()));
                endIfClosed();
            }
        }
        boolean isHeld = !pending.isFresh() && isHeld();
        if (!isHeld) {
            state.lastLoss().show();
        }
        return isHeld;
    }

    private Optional<Response.Granted> find(PendingRequest pending) {
        LeaseMonitor.Asking asking = monitor.asking();
        try (asking;
                StoreCall call = context.events().storeCall(Operation.FIND)) {
            return call.answered(context.store().find(pending.key()));
        } catch (RuntimeException e) {
            if (isHeld() || state.isCurrent(pending)) {
                throw e;
            }
            // It is known to be lost, which the thread may be told by this call alone.
            return Optional.empty();
        }
    }

    Releaser.Result release() {
        return mutex.alone(this::letGo);
    }

    private Releaser.Result letGo() {
        // In a step of its own: a loss that cannot be told is not forgotten, nor what it has left in the store.
        boolean unused = monitor.run(state.look());
        ReleasedHold released = monitor.run(state.letGo());
        Releaser.Result result;
        try {
            result = releaser.end(released);
        } catch (RuntimeException | Error e) {
            tellEnd(released, End.RELEASE_FAILED);
            throw e;
        }
        boolean wasHeld = released.loss() == null && released.held() != null;
        LossReason found = result.reason();
        if (wasHeld && found != null) {
            monitor.tell(state.lastLoss().listeners(), found);
            Optional.ofNullable(released.tracker()).ifPresent(tracker -> tracker.tellLoss(found));
        }
        tellEnd(released, End.RELEASED);
        return result;
    }

    /** Unless it was lost before, which was told then. */
    private void tellEnd(ReleasedHold released, End end) {
        if (context.events().isOn() && released.held() != null && released.tracker() != null) {
            released.tracker().tellEnd(end);
        }
    }

    private void letGoQuietly() {
        try {
            Releaser.Result unused = letGo();
        } catch (RuntimeException e) {
            releaser.logFailure(e);
        }
    }

    /** Releases for try-with-resources: a failure must not hide what the body threw, a loss must not stay unknown. */
    void close() {
        Releaser.Result result;
        try {
            result = release();
        } catch (LockStorageException e) {
            releaser.logFailure(e);
            return;
        }
        if (result.kind() == Releaser.Result.Kind.WAS_LOST && result.reason() != null) {
            throw new LockLostException(resource(), "it was no longer held when it was released", result.reason());
        }
    }

    Optional<Key> transferKey() {
        return mutex.alone(() -> {
            if (monitor.run(state.look()) && state.unanswered().isAny()) {
                throw new LockStorageException(
                        resource(),
                        "a request that was not answered may still shorten or demote the hold: release it instead of transferring it",
                        null);
            }
            Optional<HoldTracker> tracker = state.tracker();
            Key unused = context.handedOut(state.key());
            Optional<Key> given = monitor.run(state.transferKey());
            given.ifPresent(key -> tracker.ifPresent(ended -> ended.tellEnd(End.TRANSFERRED)));
            return given.map(context::givenAway);
        });
    }

    /** The factory is closed: nothing waits or is renewed any more, and what auto-release covers is released. */
    @Override
    public void end() {
        boolean unused = mutex.alone(() -> {
            boolean isReleased = settings.autoRelease() == AutoRelease.ON;
            return isReleased ? endNow() : leave();
        });
    }

    /** In the turn: ends what the factory's close() did not see; false if it is open, or it was held before, and is to stay. */
    boolean endsIfClosed(boolean wasHeld) {
        if (!context.isClosed()) {
            return false;
        }
        boolean isLeft = wasHeld && settings.autoRelease() == AutoRelease.OFF;
        return mutex.requests().run(() -> isLeft ? leave() : endNow());
    }

    /** In the turn: lets go of what nobody wants. */
    void endUnwanted() {
        boolean unused = mutex.requests().run(this::endNow);
    }

    private boolean endNow() {
        letGoQuietly();
        return true;
    }

    private boolean leave() {
        boolean unused = monitor.run(state.look());
        state.stopWatching();
        state.tracker().ifPresent(left -> left.tellEnd(End.LEFT));
        releaser.endOverdueInTurn();
        active.leaves();
        return false;
    }
}
