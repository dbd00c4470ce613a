package dev.latchkey;

import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Patience;
import dev.latchkey.spi.Request;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lets go of what a Lock holds: the store forgets it, or keeps it for the rest of the min hold. In the Lock's turn. */
final class Letting {

    private static final Logger log = LoggerFactory.getLogger(Lock.class);

    private final Ownership owner;
    private final Backend backend;
    private final LockSettings settings;
    private final HoldState state;
    private final Vigil vigil;

    Letting(Ownership owner, Backend backend, LockSettings settings, HoldState state, Vigil vigil) {
        this.owner = owner;
        this.backend = backend;
        this.settings = settings;
        this.state = state;
        this.vigil = vigil;
    }

    /** In the Lock's turn and flight. */
    Release go() {
        vigil.noticeExpiry();
        Given given = state.letGo();
        owner.holdsNothing();
        if (settings.onLoss() == LockSettings.OnLoss.IS_INTERRUPTED) {
            vigil.interruptsNobody(given.watch());
        }
        if (given.loss() != null) {
            goQuietly(Optional.ofNullable(given.key()));
            return new Release(
                    given.told() == Told.THROWN ? Release.Kind.WAS_LOST_AND_TOLD : Release.Kind.WAS_LOST, given.loss());
        }
        if (given.key() == null) {
            return Release.NOTHING_HELD;
        }
        if (endInStore(given.key(), restOfMinHold(given))) {
            return Release.WAS_OURS;
        }
        Hold held = given.held();
        LossReason reason = held != null && held.isOver() ? held.whyOver() : LossReason.RELEASED_ELSEWHERE;
        if (held != null) {
            vigil.tell(state.listeners(), reason);
        }
        return new Release(Release.Kind.WAS_LOST, reason);
    }

    private Duration restOfMinHold(Given given) {
        return given.watch() == null ? Duration.ZERO : given.watch().restOf(settings.minHold());
    }

    private boolean endInStore(Key key, Duration rest) {
        boolean wasOurs;
        try {
            wasOurs = rest.compareTo(Durations.SHORTEST_TTL) > 0 ? leave(key, rest) : delete(key);
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
        Attempt attempt = backend.expiring()
                .orElseThrow(() -> new IllegalStateException("a min hold without leases"))
                .refresh(new Request(key, mode, rest, Patience.ONCE, LeaseChange.SET));
        state.renewKey();
        backend.waiting().shortened(key.resource());
        return attempt instanceof Attempt.Granted;
    }

    private boolean delete(Key key) {
        // Those who wait with a closed factory are sent away.
        return backend.isClosed()
                ? backend.store().delete(key)
                : backend.waiting().release(key);
    }

    void goQuietly() {
        try {
            Release unused = go();
        } catch (RuntimeException e) {
            logFailure(e);
        }
    }

    /** In the Lock's turn and flight. A delete that was not answered may come late: its token is not used again. */
    void goQuietly(Optional<Key> overdue) {
        try {
            overdue.ifPresent(this::delete);
        } catch (RuntimeException e) {
            state.renewKey();
            logFailure(e);
        }
    }

    void logFailure(RuntimeException failure) {
        log.warn("lock.release-failed resource={}", LockException.shown(state.resource()), failure);
    }
}
