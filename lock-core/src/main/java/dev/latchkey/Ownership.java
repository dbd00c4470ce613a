package dev.latchkey;

import dev.latchkey.Acquisition.Outcome;
import dev.latchkey.spi.Attempt;
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
final class Ownership {

    /** Where the key of a Lock comes from. */
    enum Origin {
        MADE_HERE,
        RECEIVED
    }

    private final Backend backend;
    private final LockSettings settings;
    private final @Nullable Abandonment abandonment;
    private final Turn turn = new Turn();
    private final Flight flight = new Flight();
    private final HoldState state;
    private final Vigil vigil;
    private final Acquisition acquisition;
    private final Refreshing refreshing;
    private final Letting letting;
    private volatile boolean waiting;

    /** Ends the wait of one who holds something already. */
    private volatile @Nullable CompletableFuture<Void> promoting;

    Ownership(Backend backend, Key key, LockSettings settings, Origin origin, @Nullable Abandonment abandonment) {
        this.backend = backend;
        this.settings = settings;
        this.abandonment = abandonment;
        this.state = new HoldState(
                key.boundToProcess(backend.processBound()), origin == Origin.RECEIVED, settings.lossListeners());
        this.vigil = new Vigil(backend, settings, state, this);
        this.acquisition = new Acquisition(backend, settings, state, vigil, flight);
        this.refreshing = new Refreshing(backend, settings, state, vigil);
        this.letting = new Letting(this, backend, settings, state, vigil);
    }

    HoldState state() {
        return state;
    }

    Vigil vigil() {
        return vigil;
    }

    Renewal renewal(Watch watch) {
        return new Renewal(backend.renewals(), refreshing, state, flight, watch, settings.ttl());
    }

    Outcome tryAcquire(LockMode mode) {
        backend.checkOpen();
        if (!turn.takeUnlessWaiting()) {
            return Outcome.BUSY;
        }
        try {
            boolean isHeld = isHeld();
            Outcome outcome = endedIfClosed(acquisition.once(mode), isHeld);
            if (outcome == Outcome.WITHDRAWN) {
                backend.checkOpen();
            }
            return outcome;
        } finally {
            turn.end();
        }
    }

    Outcome acquire(LockMode mode, Duration maxWait) throws InterruptedException {
        backend.checkOpen();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Deadline end = Deadline.in(maxWait);
        var withdrawn = new CompletableFuture<Void>();
        if (!turn.takeToWait(withdrawn, end)) {
            return Outcome.BUSY;
        }
        boolean isHeld = isHeld();
        if (isHeld) {
            promoting = withdrawn;
        }
        waiting = true;
        backend.active().add(this);
        try {
            // Looked at again now that close() would find this wait.
            backend.checkOpen();
            Outcome outcome = endedIfClosed(acquisition.waiting(mode, end, withdrawn), isHeld);
            if (outcome == Outcome.WITHDRAWN && isHeld) {
                acquisition.checkNotLost();
            }
            return outcome;
        } finally {
            waiting = false;
            if (isHeld) {
                promoting = null;
            }
            mayBeIdle();
            turn.end();
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
            backend.active().add(this);
        }
        if (abandonment != null) {
            abandonment.begins(this);
        }
    }

    /** What was held is let go of, in the turn: nobody waits. */
    void holdsNothing() {
        backend.active().remove(this);
        if (abandonment != null) {
            abandonment.mayHaveEnded();
        }
    }

    /** A hold, or a wait, has ended. */
    void mayBeIdle() {
        backend.active().removeIfIdle(this);
        if (abandonment != null) {
            abandonment.mayHaveEnded();
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
        if (outcome != Outcome.GRANTED || !backend.isClosed()) {
            return outcome;
        }
        if (wasHeld && settings.autoRelease() == LockSettings.AutoRelease.OFF) {
            leave();
            return outcome;
        }
        flight.begin();
        try {
            letting.goQuietly();
        } finally {
            flight.end();
        }
        return Outcome.WITHDRAWN;
    }

    void refresh(Duration ttl) {
        refreshing.check();
        flight.begin();
        try {
            refreshing.refresh(ttl);
        } finally {
            flight.end();
        }
    }

    void refresh(Duration ttl, Duration minHold) {
        if (!minHold.isZero() && backend.expiring().isEmpty()) {
            throw new UnsupportedOperationException(LockBuilder.NO_MIN_HOLD);
        }
        refreshing.check();
        flight.begin();
        try {
            refreshing.refresh(ttl);
            Deadline end = Deadline.in(minHold);
            state.watch().ifPresent(watch -> watch.minHoldEnds(end));
        } finally {
            flight.end();
        }
    }

    boolean isAcquired() {
        vigil.noticeExpiry();
        Claim claim = state.claim();
        if (claim.isFresh()) {
            state.show();
            return false;
        }
        Optional<Attempt.Granted> found = backend.store().find(claim.key());
        if (found.isEmpty()) {
            vigil.announce(state.lose(claim, LossReason.RELEASED_ELSEWHERE));
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
            boolean unused = vigil.confirm(claim, hold);
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

    Release release() {
        return alone(letting::go);
    }

    /** What lets go of a hold sends away who waits, and comes after what is in flight. */
    private <T> T alone(Supplier<T> end) {
        turn.takeFromWaiter();
        flight.begin();
        try {
            return end.get();
        } finally {
            flight.end();
            turn.end();
        }
    }

    /** Releases for try-with-resources: a failure must not hide what the body threw, a loss must not stay unknown. */
    void close() {
        Release release;
        try {
            release = release();
        } catch (LockStorageException e) {
            letting.logFailure(e);
            return;
        }
        if (release.kind() == Release.Kind.WAS_LOST && release.reason() != null) {
            throw new LockLostException(
                    state.resource(), "it was no longer held when it was to be released", release.reason());
        }
    }

    Optional<Key> handOver() {
        return alone(() -> {
            vigil.noticeExpiry();
            if (isHeld() && state.mayBeCut()) {
                throw new LockStorageException(
                        state.resource(),
                        "the store did not answer a request that may still shorten or demote the hold: release it instead of handing it over",
                        null);
            }
            Optional<Given> given = state.handOver();
            given.map(Given::watch).ifPresent(vigil::interruptsNobody);
            given.ifPresent(any -> holdsNothing());
            return given.map(Given::key);
        });
    }

    /** The factory is closed: nothing waits or is renewed any more, and what auto-release covers is released. */
    void end() {
        Object unused = alone(() -> {
            if (settings.autoRelease() == LockSettings.AutoRelease.ON) {
                letting.goQuietly();
            } else {
                leave();
            }
            return this;
        });
    }

    private void leave() {
        state.stopWatching();
        backend.active().remove(this);
        if (abandonment != null) {
            abandonment.ends();
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
        Future<?> unused = backend.keeper().end(() -> {
            CompletableFuture<Void> wait = promoting;
            if (wait != null && state.isOverdue()) {
                wait.complete(null);
            }
            if (turn.takeUnlessWaiting()) {
                flight.begin();
                try {
                    letting.goQuietly(overdue.get());
                } finally {
                    flight.end();
                    turn.end();
                }
            }
        });
    }
}
