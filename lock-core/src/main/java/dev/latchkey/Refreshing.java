package dev.latchkey;

import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Patience;
import dev.latchkey.spi.Request;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the lease of what a Lock holds again: asked by its holder, or together with others by the renewer. */
final class Refreshing {

    private static final Logger log = LoggerFactory.getLogger(Lock.class);

    private final Backend backend;
    private final LockSettings settings;
    private final HoldState state;
    private final Vigil vigil;

    Refreshing(Backend backend, LockSettings settings, HoldState state, Vigil vigil) {
        this.backend = backend;
        this.settings = settings;
        this.state = state;
        this.vigil = vigil;
    }

    void refresh(Duration wanted) {
        Claim claim = begin(wanted);
        settle(claim, ask(request(claim, wanted)));
    }

    /** Begins a request for what is held. */
    Claim begin(Duration wanted) {
        vigil.noticeExpiry();
        Claim claim = state.claimToRefresh(wanted);
        if (claim.isFresh()) {
            throw nothingToRefresh();
        }
        return claim;
    }

    Request request(Claim claim, Duration wanted) {
        LockMode mode = claim.key().held().map(Key.Held::mode).orElse(LockMode.EXCLUSIVE);
        LeaseChange change = wanted.equals(settings.ttl()) ? LeaseChange.EXTEND : LeaseChange.SET;
        return new Request(claim.key(), mode, settings.bounded(wanted, claim.watch()), Patience.ONCE, change);
    }

    private Attempt ask(Request request) {
        return backend.expiring()
                .map(store -> store.refresh(request))
                .orElseGet(() -> backend.store()
                        .find(request.key())
                        .<Attempt>map(granted -> granted)
                        .orElse(new Attempt.Lost(LossReason.SESSION_LOST)));
    }

    /** Believes what the store answered, but for an answer that came too late: what has looked over is not held again. */
    void settle(Claim claim, Attempt attempt) {
        if (!(attempt instanceof Attempt.Granted granted)) {
            if (state.isHeldOtherwise(claim)) {
                // Promoted or demoted since, which started the TTL again: the store was asked about what was given up
                // for that.
                return;
            }
            LossReason reason = attempt instanceof Attempt.Lost lost ? lost.reason() : LossReason.TAKEN_OVER;
            throw vigil.lost(claim, reason, "it could not be refreshed, for it was no longer held");
        }
        Hold hold = Hold.of(granted);
        vigil.noticeExpiry();
        if (hold.isOver() || !vigil.confirm(claim, hold)) {
            LossReason reason =
                    hold.isOver() ? LossReason.EXPIRED : state.loss().orElse(LossReason.RELEASED_ELSEWHERE);
            throw vigil.lost(claim, reason, "it was refreshed too late");
        }
        if (log.isDebugEnabled()) {
            log.debug(
                    "lock.refreshed resource={} ttlMs={}",
                    LockException.shown(state.resource()),
                    granted.lease().ttl().toMillis());
        }
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
}
