package dev.latchkey;

import dev.latchkey.Acquisition.Outcome;
import dev.latchkey.spi.Attempt;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

    /** How a hold was given up. */
    enum Release {
        NOTHING_HELD,
        WAS_OURS,
        WAS_LOST,
        WAS_LOST_AND_TOLD
    }

    private static final Logger log = LoggerFactory.getLogger(Lock.class);

    private final Backend backend;
    private final LockSettings settings;
    private final Turn turn = new Turn();
    private final HoldState state;
    private final Vigil vigil;
    private final Acquisition acquisition;
    private final Refreshing refreshing;
    private final Letting letting;
    private volatile boolean waiting;

    Ownership(Backend backend, Key key, LockSettings settings, Origin origin) {
        this.backend = backend;
        this.settings = settings;
        this.state = new HoldState(
                key.boundToProcess(backend.processBound()), origin == Origin.RECEIVED, settings.lossListeners());
        this.vigil = new Vigil(backend, settings, state, this);
        this.acquisition = new Acquisition(backend, settings, state, vigil);
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
        return new Renewal(backend.renewals(), refreshing, state, watch, settings.ttl());
    }

    Outcome tryAcquire(LockMode mode) {
        backend.checkOpen();
        if (!turn.takeUnlessWaiting()) {
            return Outcome.CONFLICTED;
        }
        try {
            Outcome outcome = endedIfClosed(acquisition.once(mode));
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
            return Outcome.CONFLICTED;
        }
        waiting = true;
        backend.active().add(this);
        try {
            // Looked at again now that close() would find this wait.
            backend.checkOpen();
            return endedIfClosed(acquisition.waiting(mode, end, withdrawn));
        } finally {
            waiting = false;
            backend.active().removeIfIdle(this);
            turn.end();
        }
    }

    /** The factory's close() has to find what is held, as it finds who waits. */
    void holds() {
        if (!waiting) {
            backend.active().add(this);
        }
    }

    /** Whether close() has nothing to end here. */
    boolean isIdle() {
        return !waiting && state.hold().isEmpty();
    }

    /** The factory may have been closed while the store was asked: it did not know of this hold then. */
    private Outcome endedIfClosed(Outcome outcome) {
        if (outcome != Outcome.GRANTED || !backend.isClosed()) {
            return outcome;
        }
        letting.goQuietly();
        return Outcome.WITHDRAWN;
    }

    void refresh(Duration ttl) {
        refreshing.refresh(ttl);
    }

    boolean isAcquired() {
        vigil.noticeExpiry();
        Claim claim = state.claim();
        if (claim.isFresh()) {
            return false;
        }
        Optional<Attempt.Granted> found = backend.store().find(claim.key());
        if (found.isEmpty()) {
            vigil.announce(state.lose(claim, LossReason.RELEASED_ELSEWHERE));
            return false;
        }
        Hold hold = Hold.of(found.get());
        if (claim.adopted() && !hold.isOver()) {
            // Unless it was handed over or released meanwhile.
            boolean unused = vigil.confirm(claim, hold);
        }
        return state.hold().isPresent();
    }

    Optional<Duration> remainingLifetime() {
        Optional<Hold> hold = state.hold();
        if (hold.isEmpty()) {
            return Optional.of(Duration.ZERO);
        }
        return Optional.ofNullable(hold.get().deadline()).map(Deadline::remaining);
    }

    Release release() {
        turn.takeFromWaiter();
        try {
            return letting.go();
        } finally {
            turn.end();
        }
    }

    /** Releases for try-with-resources: a failure must not hide what the body threw, a loss must not stay unknown. */
    void close() {
        LossReason loss = state.loss().orElse(LossReason.RELEASED_ELSEWHERE);
        try {
            if (release() != Release.WAS_LOST) {
                return;
            }
        } catch (LockStorageException e) {
            letting.logFailure(e);
            return;
        }
        throw new LockLostException(state.resource(), "it was no longer held when it was to be released", loss);
    }

    Optional<Key> handOver() {
        turn.takeFromWaiter();
        try {
            vigil.noticeExpiry();
            Optional<Key> given = state.handOver();
            given.ifPresent(key -> backend.active().remove(this));
            return given;
        } finally {
            turn.end();
        }
    }

    /** The factory is closed: nothing waits or is renewed any more, and what auto-release covers is released. */
    void end() {
        turn.takeFromWaiter();
        try {
            if (settings.autoRelease() == LockSettings.AutoRelease.ON) {
                letting.goQuietly();
            } else {
                state.stopWatching();
                backend.active().remove(this);
            }
        } finally {
            turn.end();
        }
    }

    /** A hold that was over by its max hold, not by its lease, is in the store still. */
    void giveUpOverdue() {
        if (turn.takeUnlessWaiting()) {
            try {
                letting.goQuietly(state.takeOverdue());
            } finally {
                turn.end();
            }
        }
    }

    /**
     * Nobody can reach the Lock any more. What has a lease is left to it: the work it was taken for may still go on. Else
     * nobody would ever release it.
     */
    void abandon(StackWalker.@Nullable StackFrame creation) {
        if (state.hold().isEmpty() || backend.isClosed()) {
            return;
        }
        boolean endless = remainingLifetime().isEmpty() && settings.autoRelease() == LockSettings.AutoRelease.ON;
        log.warn(
                "lock.abandoned resource={} {}: the Lock made at {} was garbage-collected while held; release it or close it",
                LockException.shown(state.resource()),
                endless ? "released" : "left to the store",
                creation);
        if (endless) {
            backend.keeper().renew(this::end);
        } else {
            state.stopWatching();
            backend.active().remove(this);
        }
    }
}
