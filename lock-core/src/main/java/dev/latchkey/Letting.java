package dev.latchkey;

import dev.latchkey.Ownership.Release;
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

    Release go() {
        vigil.noticeExpiry();
        Given given = state.letGo();
        backend.active().remove(owner);
        if (given.key() != null && endInStore(given.key(), restOfMinHold(given))) {
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

    private Duration restOfMinHold(Given given) {
        return given.watch() == null
                ? Duration.ZERO
                : settings.minHold().minusNanos(given.watch().heldNanos());
    }

    private boolean endInStore(Key key, Duration rest) {
        boolean wasOurs;
        try {
            wasOurs = rest.compareTo(Durations.SHORTEST_TTL) > 0 ? leave(key, rest) : delete(key);
        } catch (RuntimeException e) {
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

    void goQuietly(Optional<Key> overdue) {
        try {
            overdue.ifPresent(this::delete);
        } catch (RuntimeException e) {
            logFailure(e);
        }
    }

    void logFailure(RuntimeException failure) {
        log.warn("lock.release-failed resource={}", LockException.shown(state.resource()), failure);
    }
}
