package dev.latchkey;

import dev.latchkey.Acquirer.Outcome;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link Lock} does. Apart from it, so that what the factory and its threads keep does not keep the user's Lock
 * reachable.
 */
final class LockEngine {

    /** Where the key of a Lock comes from. */
    enum Origin {
        MADE_HERE,
        RECEIVED
    }

    private final FactoryContext context;
    private final LockSettings settings;
    private final @Nullable LeakDetector leakDetector;
    private final OperationMutex mutex = new OperationMutex();
    private final RequestMutex requestMutex = new RequestMutex();
    private final LockState state;
    private final LeaseMonitor monitor;
    private final Acquirer acquirer;
    private final Refresher refresher;
    private final Releaser releaser;
    private volatile boolean waiting;

    /** Ends the wait of one who holds something already. */
    private volatile @Nullable CompletableFuture<Void> promoting;

    LockEngine(
            FactoryContext context,
            Key key,
            LockSettings settings,
            Origin origin,
            @Nullable LeakDetector leakDetector) {
        this.context = context;
        this.settings = settings;
        this.leakDetector = leakDetector;
        this.state = new LockState(
                key.boundToProcess(context.processBound()), origin == Origin.RECEIVED, settings.lossListeners());
        this.monitor = new LeaseMonitor(context, settings, state, this);
        this.acquirer = new Acquirer(context, settings, state, monitor, requestMutex);
        this.refresher = new Refresher(context, settings, state, monitor);
        this.releaser = new Releaser(this, context, settings, state, monitor);
    }

    LockState state() {
        return state;
    }

    LeaseMonitor monitor() {
        return monitor;
    }

    RenewalTask renewal(HoldTracker watch) {
        return new RenewalTask(context.renewalScheduler(), refresher, state, requestMutex, watch, settings.ttl());
    }

    Outcome tryAcquire(LockMode mode) {
        context.checkOpen();
        if (!mutex.takeUnlessWaiting()) {
            return Outcome.BUSY;
        }
        try {
            boolean isHeld = isHeld();
            Outcome outcome = endedIfClosed(acquirer.once(mode), isHeld);
            if (outcome == Outcome.WITHDRAWN) {
                context.checkOpen();
            }
            return outcome;
        } finally {
            mutex.end();
        }
    }

    Outcome acquire(LockMode mode, Duration maxWait) throws InterruptedException {
        context.checkOpen();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Deadline end = Deadline.in(maxWait);
        var withdrawn = new CompletableFuture<Void>();
        if (!mutex.takeToWait(withdrawn, end)) {
            return Outcome.BUSY;
        }
        boolean isHeld = isHeld();
        if (isHeld) {
            promoting = withdrawn;
        }
        waiting = true;
        context.active().add(this);
        try {
            // Looked at again now that close() would find this wait.
            context.checkOpen();
            Outcome outcome = endedIfClosed(acquirer.waiting(mode, end, withdrawn), isHeld);
            if (outcome == Outcome.WITHDRAWN && isHeld) {
                acquirer.checkNotLost();
            }
            return outcome;
        } finally {
            waiting = false;
            if (isHeld) {
                promoting = null;
            }
            mayBeIdle();
            mutex.end();
            if (state.isOverdue()) {
                state.loss().ifPresent(this::endOverdueAfter);
            }
        }
    }

    private boolean isHeld() {
        return state.hold().isPresent();
    }

    /** The factory's close() has to find what is held, as it finds who waits. */
    void holds() {
        if (!waiting) {
            context.active().add(this);
        }
        if (leakDetector != null) {
            leakDetector.begins(this);
        }
    }

    /** What was held is let go of, in the turn: nobody waits. */
    void holdsNothing() {
        context.active().remove(this);
        if (leakDetector != null) {
            leakDetector.mayHaveEnded();
        }
    }

    /** A hold, or a wait, has ended. */
    void mayBeIdle() {
        context.active().removeIfIdle(this);
        if (leakDetector != null) {
            leakDetector.mayHaveEnded();
        }
    }

    /** Whether close() has nothing to end here. */
    boolean isIdle() {
        return !waiting && state.hold().isEmpty();
    }

    /**
     * The factory may have been closed while the store was asked: it did not know of this hold then. What was held before
     * stays, if it is to stay.
     */
    private Outcome endedIfClosed(Outcome outcome, boolean wasHeld) {
        if (outcome != Outcome.GRANTED || !context.isClosed()) {
            return outcome;
        }
        if (wasHeld && settings.autoRelease() == LockSettings.AutoRelease.OFF) {
            leave();
            return outcome;
        }
        requestMutex.begin();
        try {
            releaser.goQuietly();
        } finally {
            requestMutex.end();
        }
        return Outcome.WITHDRAWN;
    }

    void refresh(Duration ttl) {
        refresher.check();
        requestMutex.begin();
        try {
            refresher.refresh(ttl);
        } finally {
            requestMutex.end();
        }
    }

    void refresh(Duration ttl, Duration minHold) {
        if (!minHold.isZero() && context.expiring().isEmpty()) {
            throw new UnsupportedOperationException(LockBuilder.NO_MIN_HOLD);
        }
        refresher.check();
        requestMutex.begin();
        try {
            refresher.refresh(ttl);
            Deadline end = Deadline.in(minHold);
            state.watch().ifPresent(watch -> watch.minHoldEnds(end));
        } finally {
            requestMutex.end();
        }
    }

    boolean isAcquired() {
        monitor.noticeExpiry();
        Claim claim = state.claim();
        if (claim.isFresh()) {
            state.show();
            return false;
        }
        Optional<Response.Granted> found = context.store().find(claim.key());
        if (found.isEmpty()) {
            monitor.announce(state.lose(claim, LossReason.RELEASED_ELSEWHERE));
            if (isHeld()) {
                // Taken since the store was asked.
                return isAcquired();
            }
            state.show();
            return false;
        }
        Hold hold = Hold.of(found.get());
        if (claim.adopted() && !hold.isOver()) {
            // Unless it was handed over or released meanwhile.
            boolean unused = monitor.confirm(claim, hold);
        }
        boolean isHeld = isHeld();
        if (!isHeld) {
            state.show();
        }
        return isHeld;
    }

    Optional<Duration> remainingLifetime() {
        Optional<Hold> hold = state.hold();
        if (hold.isEmpty()) {
            return Optional.of(Duration.ZERO);
        }
        return Optional.ofNullable(hold.get().deadline()).map(Deadline::remaining);
    }

    ReleaseResult release() {
        return alone(releaser::go);
    }

    /** What lets go of a hold sends away who waits, and comes after what is in flight. */
    private <T> T alone(Supplier<T> end) {
        mutex.takeFromWaiter();
        requestMutex.begin();
        try {
            return end.get();
        } finally {
            requestMutex.end();
            mutex.end();
        }
    }

    /** Releases for try-with-resources: a failure must not hide what the body threw, a loss must not stay unknown. */
    void close() {
        ReleaseResult release;
        try {
            release = release();
        } catch (LockStorageException e) {
            releaser.logFailure(e);
            return;
        }
        if (release.kind() == ReleaseResult.Kind.WAS_LOST && release.reason() != null) {
            throw new LockLostException(
                    state.resource(), "it was no longer held when it was released", release.reason());
        }
    }

    Optional<Key> transferKey() {
        return alone(() -> {
            monitor.noticeExpiry();
            if (isHeld() && state.mayBeCut()) {
                throw new LockStorageException(
                        state.resource(),
                        "a request that was not answered may still shorten or demote the hold: release it instead of transferring it",
                        null);
            }
            Optional<ReleasedHold> released = state.transferKey();
            released.map(ReleasedHold::watch).ifPresent(monitor::interruptsNobody);
            released.ifPresent(any -> holdsNothing());
            return released.map(ReleasedHold::key);
        });
    }

    /** The factory is closed: nothing waits or is renewed any more, and what auto-release covers is released. */
    void end() {
        Object unused = alone(() -> {
            if (settings.autoRelease() == LockSettings.AutoRelease.ON) {
                releaser.goQuietly();
            } else {
                leave();
            }
            return this;
        });
    }

    private void leave() {
        state.stopWatching();
        context.active().remove(this);
        if (leakDetector != null) {
            leakDetector.ends();
        }
    }

    /**
     * A hold that was over by its max hold, or by a look at the clock of its session, is in the store still, and no lease ends
     * it there. Who else knows the key of a session that seemed to be over may have acquired anew with it, and would not be
     * told of a release: to them it is left.
     */
    void endOverdueAfter(LossReason reason) {
        if (reason == LossReason.SESSION_LOST) {
            endOverdue(state::takeOverdueOfOurs);
        } else if (settings.hasMaxHold()) {
            endOverdue(state::takeOverdue);
        }
    }

    /** Whoever waits to have it promoted waits in vain; when that wait has ended, this is done again. */
    private void endOverdue(Supplier<Optional<Key>> overdue) {
        Future<?> unused = context.threads().end(() -> {
            CompletableFuture<Void> wait = promoting;
            if (wait != null && state.isOverdue()) {
                wait.complete(null);
            }
            if (mutex.takeUnlessWaiting()) {
                requestMutex.begin();
                try {
                    releaser.goQuietly(overdue.get());
                } finally {
                    requestMutex.end();
                    mutex.end();
                }
            }
        });
    }
}
