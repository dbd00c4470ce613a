package dev.latchkey;

import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lets go of what a Lock holds: the store forgets it, or keeps it for the rest of the min hold. In the Lock's turn. */
final class Releaser {

    private static final Logger log = LoggerFactory.getLogger(Lock.class);

    private final LockEngine owner;
    private final FactoryContext context;
    private final LockSettings settings;
    private final LockState state;
    private final LeaseMonitor monitor;

    Releaser(LockEngine owner, FactoryContext context, LockSettings settings, LockState state, LeaseMonitor monitor) {
        this.owner = owner;
        this.context = context;
        this.settings = settings;
        this.state = state;
        this.monitor = monitor;
    }

    /** In the Lock's turn and flight. */
    ReleaseResult go() {
        monitor.noticeExpiry();
        ReleasedHold released = state.letGo();
        owner.holdsNothing();
        if (settings.onLoss() == LockSettings.OnLoss.IS_INTERRUPTED) {
            monitor.interruptsNobody(released.watch());
        }
        if (released.loss() != null) {
            goQuietly(Optional.ofNullable(released.key()));
            return new ReleaseResult(
                    released.told() == LossNotice.THROWN
                            ? ReleaseResult.Kind.WAS_LOST_AND_TOLD
                            : ReleaseResult.Kind.WAS_LOST,
                    released.loss());
        }
        if (released.key() == null) {
            return ReleaseResult.NOTHING_HELD;
        }
        if (endInStore(released.key(), restOfMinHold(released))) {
            return ReleaseResult.WAS_OURS;
        }
        Hold held = released.held();
        LossReason reason = held != null && held.isOver() ? held.whyOver() : LossReason.RELEASED_ELSEWHERE;
        if (held != null) {
            monitor.tell(state.listeners(), reason);
        }
        return new ReleaseResult(ReleaseResult.Kind.WAS_LOST, reason);
    }

    private Duration restOfMinHold(ReleasedHold released) {
        return released.watch() == null ? Duration.ZERO : released.watch().restOf(settings.minHold());
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
        Response response = context.expiring()
                .orElseThrow(() -> new IllegalStateException("a min hold without leases"))
                .refresh(new Request(key, mode, rest, RetryIntent.ONCE, LeaseChange.SET));
        state.renewKey();
        context.waiting().shortened(key.resource());
        return response instanceof Response.Granted;
    }

    private boolean delete(Key key) {
        // Those who wait with a closed factory are sent away.
        return context.isClosed()
                ? context.store().delete(key)
                : context.waiting().release(key);
    }

    void goQuietly() {
        try {
            ReleaseResult unused = go();
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
