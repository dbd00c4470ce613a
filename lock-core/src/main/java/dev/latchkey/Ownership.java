package dev.latchkey;

import dev.latchkey.Acquisition.Outcome;
import dev.latchkey.HoldState.Claim;
import dev.latchkey.HoldState.Given;
import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Patience;
import dev.latchkey.spi.Request;
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

    Ownership(Backend backend, Key key, LockSettings settings, Origin origin) {
        this.backend = backend;
        this.settings = settings;
        this.state = new HoldState(
                key.boundToProcess(backend.processBound()), origin == Origin.RECEIVED, settings.lossListeners());
        this.vigil = new Vigil(backend, settings, state, this);
        this.acquisition = new Acquisition(backend, settings, state, vigil);
    }

    HoldState state() {
        return state;
    }

    Vigil vigil() {
        return vigil;
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
        backend.active().add(this);
        try {
            // Looked at again now that close() would find this wait.
            backend.checkOpen();
            return endedIfClosed(acquisition.waiting(mode, end, withdrawn));
        } finally {
            if (state.hold().isEmpty()) {
                backend.active().remove(this);
            }
            turn.end();
        }
    }

    /** The factory may have been closed while the store was asked: it did not know of this hold then. */
    private Outcome endedIfClosed(Outcome outcome) {
        if (outcome != Outcome.GRANTED || !backend.isClosed()) {
            return outcome;
        }
        giveUpQuietly();
        return Outcome.WITHDRAWN;
    }

    void refresh(Duration ttl) {
        vigil.noticeExpiry();
        Claim claim = state.claimToRefresh(ttl);
        if (claim.isFresh()) {
            throw nothingToRefresh();
        }
        Attempt attempt = backend.expiring()
                .map(store -> refresh(store, claim, ttl))
                .orElseGet(() -> backend.store()
                        .find(claim.key())
                        .<Attempt>map(granted -> granted)
                        .orElse(new Attempt.Lost(LossReason.SESSION_LOST)));
        if (!(attempt instanceof Attempt.Granted granted)) {
            LossReason reason = attempt instanceof Attempt.Lost lost ? lost.reason() : LossReason.TAKEN_OVER;
            throw vigil.lost(claim, reason, "it could not be refreshed, for it was no longer held");
        }
        Hold hold = Hold.of(granted);
        if (hold.isOver() || !state.isCurrent(claim)) {
            LossReason reason =
                    hold.isOver() ? LossReason.EXPIRED : state.loss().orElse(LossReason.RELEASED_ELSEWHERE);
            throw vigil.lost(claim, reason, "it was refreshed too late");
        }
        vigil.adopt(claim, hold);
        if (log.isDebugEnabled()) {
            log.debug("lock.refreshed resource={} ttlMs={}", LockException.shown(state.resource()), ttl.toMillis());
        }
    }

    private static Attempt refresh(ExpiringStore store, Claim claim, Duration ttl) {
        LockMode mode = claim.key().held().map(Key.Held::mode).orElse(LockMode.EXCLUSIVE);
        return store.refresh(new Request(claim.key(), mode, ttl, Patience.ONCE));
    }

    private RuntimeException nothingToRefresh() {
        Optional<LossReason> loss = state.loss();
        if (loss.isEmpty()) {
            return new IllegalStateException("lock \"" + LockException.shown(state.resource())
                    + "\": nothing to refresh, for it is not held: acquire it first");
        }
        state.setLossThrown();
        return new LockLostException(state.resource(), "it cannot be refreshed, for it was lost before", loss.get());
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
        if (claim.adopted() && state.isCurrent(claim) && !hold.isOver()) {
            vigil.adopt(claim, hold);
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
            return giveUp();
        } finally {
            turn.end();
        }
    }

    private Release giveUp() {
        vigil.noticeExpiry();
        Given given = state.letGo();
        backend.active().remove(this);
        if (given.key() != null && delete(given.key())) {
            return Release.WAS_OURS;
        }
        if (given.wasHeld()) {
            vigil.tell(state.listeners(), LossReason.RELEASED_ELSEWHERE);
        }
        if (given.key() == null && given.loss() == null) {
            return Release.NOTHING_HELD;
        }
        return given.lossThrown() ? Release.WAS_LOST_AND_TOLD : Release.WAS_LOST;
    }

    private boolean delete(Key key) {
        boolean wasOurs;
        try {
            wasOurs = backend.store().delete(key);
        } catch (RuntimeException e) {
            state.renewKey();
            throw e;
        }
        backend.waiting().released(key.resource());
        if (log.isDebugEnabled()) {
            log.debug("lock.released resource={} wasOurs={}", LockException.shown(key.resource()), wasOurs);
        }
        return wasOurs;
    }

    /** Releases for try-with-resources: a failure must not hide what the body threw, a loss must not stay unknown. */
    void close() {
        LossReason loss = state.loss().orElse(LossReason.RELEASED_ELSEWHERE);
        try {
            if (release() != Release.WAS_LOST) {
                return;
            }
        } catch (LockStorageException e) {
            logReleaseFailed(e);
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
                giveUpQuietly();
            } else {
                state.stopWatching();
                backend.active().remove(this);
            }
        } finally {
            turn.end();
        }
    }

    private void giveUpQuietly() {
        try {
            giveUp();
        } catch (RuntimeException e) {
            logReleaseFailed(e);
        }
    }

    private void logReleaseFailed(@Nullable RuntimeException failure) {
        log.warn("lock.release-failed resource={}", LockException.shown(state.resource()), failure);
    }
}
