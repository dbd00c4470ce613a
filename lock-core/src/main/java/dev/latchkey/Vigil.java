package dev.latchkey;

import dev.latchkey.HoldState.Claim;
import dev.latchkey.HoldState.Loss;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches over what one Lock holds: ends it when its deadline is over or the store reports its loss, has it renewed in
 * time, and tells the listeners, once per hold.
 */
final class Vigil {

    private static final Logger log = LoggerFactory.getLogger(Lock.class);

    private final Backend backend;
    private final Keeper keeper;
    private final LockSettings settings;
    private final HoldState state;
    private final Ownership owner;

    Vigil(Backend backend, LockSettings settings, HoldState state, Ownership owner) {
        this.backend = backend;
        this.keeper = backend.keeper();
        this.settings = settings;
        this.state = state;
        this.owner = owner;
    }

    /** Believes what the store granted, and watches over it. */
    void adopt(Claim claim, Hold hold) {
        Watch watch = state.granted(claim, hold);
        backend.active().add(owner);
        hold.lost().filter(watch::seesFirst).ifPresent(lost -> listenTo(lost, watch));
        if (isRenewed() && hold.deadline() != null && !watch.isRenewed()) {
            renewIn(settings.ttl().dividedBy(3), watch);
        }
        if (isHeardOf()) {
            rearm(watch);
        }
    }

    private void listenTo(CompletionStage<LossReason> lost, Watch watch) {
        lost.whenCompleteAsync(
                (reason, failure) -> announce(state.lose(watch, reason == null ? LossReason.SESSION_LOST : reason)),
                keeper.notifier());
    }

    /** Sets the alarm at the deadline of what is held. */
    private void rearm(Watch watch) {
        watch.rearm(() -> {
            Deadline deadline = state.deadlineOf(watch);
            return deadline == null ? null : keeper.alarmAt(deadline, () -> onAlarm(watch));
        });
    }

    /** Whether anybody wants to hear of the end: else it is noticed by whoever looks next. */
    private boolean isHeardOf() {
        return isRenewed() || !state.listeners().isEmpty();
    }

    private void onAlarm(Watch watch) {
        noticeExpiry();
        if (state.isCurrent(watch)) {
            rearm(watch);
        }
    }

    private boolean isRenewed() {
        return settings.renewal() == LockSettings.Renewal.BY_THE_FACTORY;
    }

    private void renewIn(Duration delay, Watch watch) {
        watch.renewNext(() -> keeper.renewIn(delay, () -> renew(watch)));
    }

    private void renew(Watch watch) {
        if (!state.isCurrent(watch)) {
            return;
        }
        Duration ttl = settings.ttl();
        try {
            owner.refresh(ttl);
            state.setRenewalFails(false);
            renewIn(ttl.dividedBy(3), watch);
        } catch (LockLostException | IllegalStateException e) {
            log.debug("lock.renewal-ended resource={}", shownResource(), e);
        } catch (RuntimeException e) {
            state.setRenewalFails(true);
            log.warn("lock.refresh-failing resource={}", shownResource(), e);
            renewIn(ttl.dividedBy(20), watch);
        }
    }

    /** Ends the hold if its deadline is over. */
    void noticeExpiry() {
        announce(state.endIfOver());
    }

    /** A loss that no call is there to throw. */
    void announce(Optional<Loss> loss) {
        loss.ifPresent(ended -> {
            finish(ended);
            log.warn(
                    "lock.lost resource={} reason={} heldMs={}",
                    shownResource(),
                    ended.reason(),
                    Optional.ofNullable(ended.watch()).map(Watch::heldMillis).orElse(0L));
        });
    }

    /** Ends the hold as lost and returns what tells the caller. */
    LockLostException lost(Claim claim, LossReason reason, String problem) {
        state.lose(claim, reason).ifPresent(this::finish);
        state.setLossThrown();
        return new LockLostException(claim.key().resource(), problem, reason);
    }

    private void finish(Loss ended) {
        Optional.ofNullable(ended.watch()).ifPresent(Watch::end);
        backend.active().remove(owner);
        tell(ended.listeners(), ended.reason());
    }

    void listen(Consumer<? super LossReason> listener) {
        noticeExpiry();
        state.listen(listener).ifPresent(reason -> tell(List.of(listener), reason));
        state.watch().ifPresent(this::rearm);
    }

    void tell(List<Consumer<? super LossReason>> listeners, LossReason reason) {
        listeners.forEach(listener -> keeper.notifier().execute(() -> tell(listener, reason)));
    }

    private void tell(Consumer<? super LossReason> listener, LossReason reason) {
        try {
            listener.accept(reason);
        } catch (RuntimeException e) {
            log.error("lock.listener-failed resource={} reason={}", shownResource(), reason, e);
        }
    }

    private String shownResource() {
        return LockException.shown(state.resource());
    }
}
