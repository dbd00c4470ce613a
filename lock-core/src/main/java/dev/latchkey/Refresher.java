package dev.latchkey;

import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the lease of what a Lock holds again: asked by its holder, or together with others by the renewer. */
final class Refresher {

    private static final Logger log = LoggerFactory.getLogger(Lock.class);

    private final FactoryContext context;
    private final LockSettings settings;
    private final LockState state;
    private final LeaseMonitor monitor;

    Refresher(FactoryContext context, LockSettings settings, LockState state, LeaseMonitor monitor) {
        this.context = context;
        this.settings = settings;
        this.state = state;
        this.monitor = monitor;
    }

    void refresh(Duration wanted) {
        Claim claim = begin(wanted);
        Response response;
        try {
            response = ask(request(claim, wanted));
        } catch (RuntimeException | Error e) {
            failed(claim, e);
            monitor.throwIfLost(claim, e);
            throw e;
        }
        try {
            settle(claim, response);
        } catch (LockLostException e) {
            state.thrown(claim);
            throw e;
        }
        if (claim.change() == LeaseChange.SET) {
            context.waiting().shortened(state.resource());
        }
    }

    /** Throws unless there is something to refresh. */
    void check() {
        monitor.noticeExpiry();
        Claim claim = state.claim();
        if (claim.isFresh()) {
            throw nothingToRefresh(claim);
        }
    }

    /** Begins a request of the holder's own. */
    private Claim begin(Duration wanted) {
        check();
        Claim claim = state.claimToRefresh(wanted, settings);
        if (claim.change() == LeaseChange.SET) {
            monitor.endsSooner(claim);
        }
        return claim;
    }

    /** Begins to renew what is held, by no less than it has; empty if nothing is. */
    Optional<Claim> beginToRenew() {
        monitor.noticeExpiry();
        return Optional.of(state.claim()).filter(claim -> !claim.isFresh());
    }

    Request request(Claim claim, Duration wanted) {
        LockMode mode = claim.key().held().map(Key.Held::mode).orElse(LockMode.EXCLUSIVE);
        Duration ttl = settings.bounded(wanted, claim.watch());
        return new Request(claim.key(), mode, ttl, RetryIntent.ONCE, claim.change());
    }

    /** Notes that the store has not answered. */
    void failed(Claim claim, Throwable failure) {
        if (Failures.isUndone(failure)) {
            state.answered(claim);
        } else {
            state.failed(claim);
        }
    }

    private Response ask(Request request) {
        return context.expiring()
                .map(store -> store.refresh(request))
                .orElseGet(() -> context.store()
                        .find(request.key())
                        .<Response>map(granted -> granted)
                        .orElse(new Response.Lost(LossReason.SESSION_LOST)));
    }

    /**
     * Believes what the store answered, but for an answer that came too late: what has looked over is not held again.
     *
     * @throws LockLostException if it is lost, of which nobody is told by that
     */
    void settle(Claim claim, Response response) {
        state.answered(claim);
        if (!(response instanceof Response.Granted granted)) {
            if (state.isHeldOtherwise(claim)) {
                // Promoted since, which started the TTL again: the store was asked about what was given up for that.
                return;
            }
            LossReason reason = response instanceof Response.Lost lost ? lost.reason() : LossReason.TAKEN_OVER;
            throw monitor.found(claim, reason, "it could not be refreshed because it was no longer held");
        }
        Hold hold = Hold.of(granted);
        monitor.noticeExpiry();
        if (hold.isOver() || !monitor.confirm(claim, hold) || monitor.isOverAlready()) {
            throw monitor.found(
                    claim, hold.isOver() ? hold.whyOver() : LossReason.EXPIRED, "it was refreshed too late");
        }
        if (log.isDebugEnabled()) {
            log.debug(
                    "lock.refreshed resource={} ttlMs={}",
                    LockException.shown(state.resource()),
                    granted.lease().ttl().toMillis());
        }
    }

    private RuntimeException nothingToRefresh(Claim claim) {
        Optional<LossReason> loss = state.thrown(claim);
        if (loss.isEmpty()) {
            return new IllegalStateException("lock \"" + LockException.shown(state.resource())
                    + "\": cannot be refreshed: it is not held; acquire it first");
        }
        return new LockLostException(state.resource(), "it cannot be refreshed because it was lost before", loss.get());
    }
}
