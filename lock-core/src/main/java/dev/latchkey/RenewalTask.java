package dev.latchkey;

import dev.latchkey.LockState.Renewed;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The renewing of one hold from its grant to its end, at every third of the TTL. Used by the renewer alone. */
final class RenewalTask {

    private static final Logger log = LoggerFactory.getLogger(Lock.class);

    private final RenewalScheduler renewalScheduler;
    private final Refresher refresher;
    private final LockState state;
    private final RequestMutex requestMutex;
    private final HoldTracker watch;
    private final Duration ttl;
    private @Nullable Claim claim;

    RenewalTask(
            RenewalScheduler renewalScheduler,
            Refresher refresher,
            LockState state,
            RequestMutex requestMutex,
            HoldTracker watch,
            Duration ttl) {
        this.renewalScheduler = renewalScheduler;
        this.refresher = refresher;
        this.state = state;
        this.requestMutex = requestMutex;
        this.watch = watch;
        this.ttl = ttl;
    }

    void scheduleNext() {
        watch.renewNext(() -> renewalScheduler.schedule(this, ttl.dividedBy(3), ttl.dividedBy(30)));
    }

    /** As {@link #scheduleNext()} for a lease that is shorter than the TTL. */
    void scheduleWithin(Duration rest) {
        Duration pause = Durations.max(rest.dividedBy(3), Durations.SHORTEST_TTL);
        watch.renewNext(() -> renewalScheduler.schedule(this, pause, pause.dividedBy(10)));
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
        if (!requestMutex.beginsAtOnce()) {
            scheduleSoon();
            return Optional.empty();
        }
        try {
            claim = refresher.beginToRenew().orElse(null);
            if (claim == null) {
                requestMutex.end();
            }
            return Optional.ofNullable(claim).map(begun -> refresher.request(begun, ttl));
        } catch (Throwable e) {
            requestMutex.end();
            throw e;
        }
    }

    /** Takes the store's answer; true if the store has begun to fail. */
    boolean settle(RefreshResult outcome) {
        try {
            return settleInFlight(outcome);
        } finally {
            requestMutex.end();
        }
    }

    private boolean settleInFlight(RefreshResult outcome) {
        Claim begun = claim;
        if (begun == null || !state.isCurrent(watch)) {
            return false;
        }
        if (outcome instanceof RefreshResult.Failed failed) {
            refresher.failed(begun, failed.failure());
            scheduleSoon();
            return state.changesTo(Renewed.FAILED);
        }
        try {
            refresher.settle(begun, ((RefreshResult.Answered) outcome).response());
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
        watch.renewNext(() -> renewalScheduler.schedule(this, pause, pause.dividedBy(2)));
    }

    String shownResource() {
        return LockException.shown(state.resource());
    }

    private void logEnded(RuntimeException e) {
        log.debug("lock.renewal-ended resource={}", shownResource(), e);
    }
}
