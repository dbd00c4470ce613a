package dev.latchkey;

import dev.latchkey.LockSettings.Warning;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches over what one Lock holds: ends it when its deadline is over or the store reports its loss, has it renewed in
 * time, and tells the listeners, once per hold.
 */
final class LeaseMonitor {

    private static final Logger log = LoggerFactory.getLogger(Lock.class);

    private final FactoryThreads threads;
    private final LockSettings settings;
    private final LockState state;
    private final LockEngine owner;

    LeaseMonitor(FactoryContext context, LockSettings settings, LockState state, LockEngine owner) {
        this.threads = context.threads();
        this.settings = settings;
        this.state = state;
        this.owner = owner;
    }

    /** Believes what the store granted to a thread that is going to work under it. */
    void adopt(Claim claim, Hold hold, Thread worker) {
        HoldTracker watch = state.granted(claim, hold, settings);
        watchOver(watch, hold);
        if (settings.onLoss() == LockSettings.OnLoss.IS_INTERRUPTED) {
            watch.interruptsOnLoss(worker);
        }
    }

    /** Stops watching what was granted, and believes that nothing is held. */
    void letGo() {
        ReleasedHold unused = state.letGo();
        owner.holdsNothing();
    }

    /** Believes that what is held is held on, as the store has answered; false if it has ended meanwhile. */
    boolean confirm(Claim claim, Hold hold) {
        Optional<HoldTracker> confirmed = state.confirmed(claim, hold, settings);
        confirmed.ifPresent(watch -> watchOver(watch, hold));
        return confirmed.isPresent();
    }

    private void watchOver(HoldTracker watch, Hold hold) {
        owner.holds();
        hold.lost().filter(watch::seesFirst).ifPresent(lost -> listenTo(lost, watch));
        renewInTime(watch, hold.deadline());
        if (isHeardOf()) {
            rearm(watch);
        }
    }

    /** Renewal goes by the TTL, unless somebody has asked for a shorter lease meanwhile. */
    private void renewInTime(HoldTracker watch, @Nullable Deadline end) {
        if (!settings.isRenewed() || end == null) {
            return;
        }
        if (!watch.isRenewed()) {
            threads.getReadyToTell();
            owner.renewal(watch).scheduleNext();
        } else if (end.remaining().compareTo(settings.ttl().dividedBy(2)) < 0) {
            owner.renewal(watch).scheduleWithin(end.remaining());
        }
    }

    /** The holder has asked for an earlier end, and believes it from now on. */
    void endsSooner(Claim claim) {
        HoldTracker watch = claim.watch();
        if (watch != null && isHeardOf()) {
            rearm(watch);
        }
    }

    private void listenTo(CompletionStage<LossReason> lost, HoldTracker watch) {
        lost.whenComplete((reason, failure) -> {
            Optional<Loss> loss = state.lose(watch, reason == null ? LossReason.SESSION_LOST : reason);
            loss.ifPresent(ended -> {
                interruptWorker(ended.watch());
                threads.notifier().execute(() -> announce(ended));
            });
        });
    }

    /** Whether anybody wants to hear of the end: else it is noticed by whoever looks next. */
    private boolean isHeardOf() {
        return settings.needsAlarm() || !state.listeners().isEmpty();
    }

    /** Sets the alarm at the deadline of what is held, or before it when somebody is to be warned. */
    private void rearm(HoldTracker watch) {
        threads.getReadyToTell();
        state.setAlarm(watch, deadline -> {
            Deadline next = settings.warning()
                    .filter(warning -> !watch.hasWarnedOf(deadline))
                    .map(warning -> deadline.before(warning.before()))
                    .orElse(deadline);
            return threads.alarmAt(next, () -> onAlarm(watch));
        });
    }

    private void onAlarm(HoldTracker watch) {
        noticeExpiry();
        settings.warning().ifPresent(warning -> warnInTime(warning, watch));
        if (state.isCurrent(watch)) {
            rearm(watch);
        }
    }

    private void warnInTime(Warning warning, HoldTracker watch) {
        Deadline deadline = state.deadlineOf(watch);
        if (deadline != null && deadline.before(warning.before()).isOver() && watch.warnsFirst(deadline)) {
            threads.notifier()
                    .execute(() -> callListener(() -> warning.listener().accept(deadline.remaining())));
        }
    }

    /** Ends the hold if its deadline is over, or its session may be. */
    void noticeExpiry() {
        announce(state.endIfOver());
    }

    /** A loss that no call is there to throw. */
    void announce(Optional<Loss> loss) {
        loss.ifPresent(this::announce);
    }

    private void announce(Loss ended) {
        finish(ended);
        long heldMillis =
                Optional.ofNullable(ended.watch()).map(HoldTracker::heldMillis).orElse(0L);
        // Not by the alarm thread: what writes the log may be stuck.
        threads.notifier()
                .execute(() -> log.warn(
                        "lock.lost resource={} reason={} heldMs={}", shownResource(), ended.reason(), heldMillis));
        owner.endOverdueAfter(ended.reason());
    }

    /** Ends the hold as lost and returns what tells the caller. */
    LockLostException lost(Claim claim, LossReason reason, String problem) {
        LockLostException lost = found(claim, reason, problem);
        state.thrown(claim);
        return lost;
    }

    /** As {@link #lost}, but nobody is told yet by a call: the renewer has none. */
    LockLostException found(Claim claim, LossReason reason, String problem) {
        Optional<Loss> loss = state.lose(claim, reason);
        loss.ifPresent(this::finish);
        if (loss.isEmpty()) {
            // Found held since the store was asked, it may be over by now for another reason.
            noticeExpiry();
        }
        LossReason first = state.whyLost(claim).orElse(reason);
        return new LockLostException(claim.key().resource(), problem, first);
    }

    /** What the store has granted may be over at once, by an earlier end that was asked for without an answer. */
    boolean isOverAlready() {
        if (state.hold().isPresent()) {
            return false;
        }
        noticeExpiry();
        return true;
    }

    /** A call that fails while what it is about is lost has to say so: its thread may not be told otherwise. */
    void throwIfLost(Claim claim, Throwable failure) {
        if (claim.isFresh() || state.isCurrent(claim)) {
            return;
        }
        state.thrown(claim).ifPresent(reason -> {
            var lost = new LockLostException(
                    claim.key().resource(), "it was lost, and the request to the store failed", reason);
            lost.addSuppressed(failure);
            throw lost;
        });
    }

    private void finish(Loss ended) {
        interruptWorker(ended.watch());
        owner.mayBeIdle();
        tell(ended.listeners(), ended.reason());
    }

    /** Not here, for it runs code that is not ours; at once, for a rival may come soon. */
    private void interruptWorker(@Nullable HoldTracker watch) {
        WorkerInterrupt due = watch == null ? null : watch.interruption();
        if (due != null) {
            Thread finder = Thread.currentThread();
            threads.interrupt(() -> due.happen(finder));
        }
    }

    /** When this returns, nobody is interrupted any more for the loss of a hold that was watched until now, or before it. */
    void interruptsNobody(@Nullable HoldTracker watch) {
        if (watch != null) {
            watch.interruptsNobody();
        }
        state.takeInterrupting().forEach(HoldTracker::interruptsNobody);
    }

    void listen(Consumer<? super LossReason> listener) {
        noticeExpiry();
        state.listen(listener).ifPresent(reason -> tell(List.of(listener), reason));
        state.watch().ifPresent(this::rearm);
    }

    void tell(List<Consumer<? super LossReason>> listeners, LossReason reason) {
        listeners.forEach(listener -> threads.notifier().execute(() -> callListener(() -> listener.accept(reason))));
    }

    private void callListener(Runnable call) {
        try {
            call.run();
        } catch (Throwable e) {
            // Also an Error: the listeners after it are told all the same.
            log.error("lock.listener-failed resource={}", shownResource(), e);
        }
    }

    private String shownResource() {
        return LockException.shown(state.resource());
    }
}
