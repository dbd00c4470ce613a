package dev.latchkey;

import dev.latchkey.HoldState.Renewed;
import dev.latchkey.spi.Outcome;
import dev.latchkey.spi.Request;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The renewing of one hold from its grant to its end, at every third of the TTL. Used by the renewer alone. */
final class Renewal {

    private static final Logger log = LoggerFactory.getLogger(Lock.class);

    private final Renewals renewals;
    private final Refreshing refreshing;
    private final HoldState state;
    private final Flight flight;
    private final Watch watch;
    private final Duration ttl;
    private @Nullable Claim claim;

    Renewal(Renewals renewals, Refreshing refreshing, HoldState state, Flight flight, Watch watch, Duration ttl) {
        this.renewals = renewals;
        this.refreshing = refreshing;
        this.state = state;
        this.flight = flight;
        this.watch = watch;
        this.ttl = ttl;
    }

    void scheduleNext() {
        watch.renewNext(() -> renewals.schedule(this, ttl.dividedBy(3), ttl.dividedBy(30)));
    }

    /** As {@link #scheduleNext()} for a lease that is shorter than the TTL. */
    void scheduleWithin(Duration rest) {
        Duration pause = Durations.max(rest.dividedBy(3), Durations.SHORTEST_TTL);
        watch.renewNext(() -> renewals.schedule(this, pause, pause.dividedBy(10)));
    }

    /** From now on the store is to blame if the lease ends. */
    void isDue() {
        if (state.isCurrent(watch)) {
            state.renewalBegins();
        }
    }

    /** How long an answer is of use. */
    Duration remaining() {
        Deadline deadline = state.deadlineOf(watch);
        return deadline == null ? ttl : deadline.remaining();
    }

    /**
     * Begins to renew; empty if there is nothing to renew any more, or a call of the holder is in flight, for which nobody
     * else's renewal may wait. What has begun is settled, whatever happens.
     */
    Optional<Request> begin() {
        if (!state.isCurrent(watch)) {
            return Optional.empty();
        }
        if (!flight.beginsAtOnce()) {
            scheduleSoon();
            return Optional.empty();
        }
        try {
            claim = refreshing.beginToRenew().orElse(null);
            if (claim == null) {
                flight.end();
            }
            return Optional.ofNullable(claim).map(begun -> refreshing.request(begun, ttl));
        } catch (Throwable e) {
            flight.end();
            throw e;
        }
    }

    /** Takes the store's answer; true if the store has begun to fail. */
    boolean settle(Outcome outcome) {
        try {
            return settleInFlight(outcome);
        } finally {
            flight.end();
        }
    }

    private boolean settleInFlight(Outcome outcome) {
        Claim begun = claim;
        if (begun == null || !state.isCurrent(watch)) {
            return false;
        }
        if (outcome instanceof Outcome.Failed failed) {
            refreshing.failed(begun, failed.failure());
            scheduleSoon();
            return state.changesTo(Renewed.FAILED);
        }
        try {
            refreshing.settle(begun, ((Outcome.Answered) outcome).attempt());
            state.changesTo(Renewed.DONE);
            scheduleNext();
        } catch (LockLostException | IllegalStateException e) {
            logEnded(e);
        }
        return false;
    }

    /** Tries again within what is left of the lease, ever sooner towards its end. */
    private void scheduleSoon() {
        Duration pause =
                Durations.max(Durations.min(ttl.dividedBy(20), remaining().dividedBy(4)), Durations.SHORTEST_TTL);
        watch.renewNext(() -> renewals.schedule(this, pause, pause.dividedBy(2)));
    }

    String shownResource() {
        return LockException.shown(state.resource());
    }

    private void logEnded(RuntimeException e) {
        log.debug("lock.renewal-ended resource={}", shownResource(), e);
    }
}
