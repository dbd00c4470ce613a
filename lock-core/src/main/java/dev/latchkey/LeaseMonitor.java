package dev.latchkey;

import dev.latchkey.Effect.Loss;
import dev.latchkey.Effect.ReleasedHold;
import dev.latchkey.Effect.Step;
import dev.latchkey.HoldTracker.WorkerInterrupt;
import dev.latchkey.LockSettings.OnLoss;
import dev.latchkey.LockSettings.Warning;
import dev.latchkey.threads.FactoryThreads;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs what the transitions of one Lock's state ask for: watches over what is held, so that its end is noticed when nobody
 * calls, and tells of it, once per hold.
 */
final class LeaseMonitor {

    private static final Logger log = LoggerFactory.getLogger("dev.latchkey.Lock");

    private final FactoryThreads threads;
    private final LockSettings settings;
    private final LockState state;
    private final Releaser releaser;
    private final ActiveLocks.Entry active;

    /** Threads whose calls of this Lock ask the store, and tell them of a loss that is found meanwhile. */
    private final Set<Thread> asking = ConcurrentHashMap.newKeySet();

    LeaseMonitor(
            FactoryThreads threads,
            LockSettings settings,
            LockState state,
            Releaser releaser,
            ActiveLocks.Entry active) {
        this.threads = threads;
        this.settings = settings;
        this.state = state;
        this.releaser = releaser;
        this.active = active;
    }

    /** Has done what a transition asks for; returns what it came to. A loss by time is one that no call is there to throw. */
    <T extends @Nullable Object> T run(Step<T> step) {
        if (step.noticed() != null) {
            announce(step.noticed());
        }
        if (step.effect() instanceof Effect.Watch watch) {
            watchOver(watch.tracker(), watch.hold());
        } else if (step.effect() instanceof Effect.SetAlarm alarm) {
            setAlarmIfHeardOf(alarm.tracker());
        } else if (step.effect() instanceof ReleasedHold released) {
            forget(released);
        } else if (step.effect() instanceof Loss loss) {
            finish(loss, LeaseMonitor::nothing);
        }
        return step.result();
    }

    /** As {@link #run}, for a loss that no call is there to throw. */
    void announce(Step<?> step) {
        if (step.effect() instanceof Loss loss) {
            announce(loss);
        } else {
            Object unused = run(step);
        }
    }

    /** Begins a request of a call of this thread to the store, about what is held. */
    Asking asking() {
        if (settings.onLoss() != OnLoss.IS_INTERRUPTED) {
            return LeaseMonitor::nothing;
        }
        asking.add(Thread.currentThread());
        return () -> asking.remove(Thread.currentThread());
    }

    /** Lasts until the store has answered: no call in between, which each stack would show. */
    interface Asking extends AutoCloseable {

        @Override
        void close();
    }

    private void watchOver(HoldTracker tracker, Hold hold) {
        active.holds();
        hold.lost().filter(tracker::seesFirst).ifPresent(lost -> listenTo(lost, tracker));
        setAlarmIfHeardOf(tracker);
    }

    private void listenTo(CompletionStage<LossReason> lost, HoldTracker tracker) {
        lost.whenComplete((reason, failure) -> {
            // The thread may be the worker's, in a call of another Lock, which tells it nothing.
            Thread finder = asking.contains(Thread.currentThread()) ? Thread.currentThread() : null;
            Step<LossReason> step = state.lose(tracker, reason == null ? LossReason.SESSION_LOST : reason, finder);
            if (step.effect() instanceof Loss loss) {
                interruptWorker(loss, LeaseMonitor::nothing);
                threads.notifier().execute(() -> announce(loss));
            }
        });
    }

    /** The end is noticed by whoever looks next, unless somebody wants to hear of it. */
    private void setAlarmIfHeardOf(HoldTracker tracker) {
        if (settings.needsAlarm() || !state.lastLoss().listeners().isEmpty()) {
            setAlarm(tracker);
        }
    }

    /** Sets the alarm at the deadline of what is held, or before it when somebody is to be warned. */
    private void setAlarm(HoldTracker tracker) {
        threads.getReadyToTell();
        setAlarm(tracker, 0);
    }

    private void setAlarm(HoldTracker tracker, int failures) {
        state.setAlarm(tracker, deadline -> {
            Deadline next = settings.warning()
                    .filter(warning -> !tracker.hasWarnedOf(deadline))
                    .map(warning -> deadline.before(warning.before()))
                    .orElse(deadline);
            Deadline soonest = Deadline.in(pauseAfter(failures));
            Deadline due = next.isBefore(soonest) ? soonest : next;
            return threads.alarmIn(due.remainingNanos(), () -> onAlarm(tracker, failures));
        });
    }

    /** How long nothing is tried again that has failed so often in a row: there may be no memory for a while. */
    static Duration pauseAfter(int failures) {
        return failures == 0 ? Duration.ZERO : Duration.ofMillis(1L << Math.min(failures - 1, 7));
    }

    private void onAlarm(HoldTracker tracker, int failuresBefore) {
        int failures = failuresBefore + 1;
        try {
            boolean unused = run(state.look());
            failures = 0;
        } catch (Throwable e) {
            threads.notifier().execute(() -> log.error("lock.alarm_failed resource={}", shownResource(), e));
        } finally {
            // Whatever that was, the end is still to come, and nobody else would notice it.
            warnAndSetAlarm(tracker, failures);
        }
    }

    private void warnAndSetAlarm(HoldTracker tracker, int failures) {
        try {
            settings.warning().ifPresent(warning -> warnInTime(warning, tracker));
        } finally {
            if (state.isCurrent(tracker)) {
                setAlarm(tracker, failures);
            }
        }
    }

    private void warnInTime(Warning warning, HoldTracker tracker) {
        Deadline deadline = state.deadlineOf(tracker);
        if (deadline != null && deadline.before(warning.before()).isOver() && tracker.warnsFirst(deadline)) {
            threads.notifier()
                    .execute(() -> callListener(() -> warning.listener().accept(deadline.remaining())));
        }
    }

    private void announce(Loss loss) {
        finish(loss, this::endOverdue);
        long heldMillis =
                Optional.ofNullable(loss.tracker()).map(HoldTracker::heldMillis).orElse(0L);
        // Not by the alarm thread: what writes the log may be stuck.
        threads.notifier()
                .execute(() -> log.warn(
                        "lock.lost resource={} reason={} heldMs={}", shownResource(), loss.reason(), heldMillis));
    }

    /** Has ended in the store, by a thread for that, what no lease ends there; close() finds it until then. */
    void endOverdue() {
        if (releaser.hasOverdueToEnd()) {
            Future<?> unused = threads.end(() -> {
                try {
                    releaser.endOverdue();
                } finally {
                    active.mayBeIdle();
                }
            });
        }
    }

    /** What ends it in the store, and lets a rival in, comes last. */
    private void finish(Loss loss, Runnable end) {
        active.mayBeIdle();
        try {
            tell(loss.listeners(), loss.reason());
            // Before the end in the store: what a rival does then comes after it.
            Optional.ofNullable(loss.tracker()).ifPresent(tracker -> tracker.tellLoss(loss.reason()));
        } finally {
            interruptWorker(loss, end);
        }
    }

    private static void nothing() {}

    /** Not here, for it runs code that is not ours; at once, for a rival may come soon. */
    private void interruptWorker(Loss loss, Runnable after) {
        HoldTracker tracker = loss.tracker();
        WorkerInterrupt due = tracker == null ? null : tracker.interruption();
        if (due == null) {
            after.run();
        } else {
            threads.interrupt(() -> {
                try {
                    due.happen(loss.finder());
                } finally {
                    after.run();
                }
            });
        }
    }

    /** When this returns, nobody is interrupted any more for the loss of what is released, or was held before it. */
    private void forget(ReleasedHold released) {
        active.holdsNothing();
        if (settings.onLoss() == OnLoss.IS_INTERRUPTED) {
            releaser.interruptWorkers(Thread.currentThread());
            Optional.ofNullable(released.tracker()).ifPresent(HoldTracker::interruptsNobody);
        }
    }

    /** The call that made the request finds that what it is about is lost; returns what it throws. */
    LockLostException lost(Hold.PendingRequest pending, LossReason reason, String problem) {
        LockLostException lost = found(pending, reason, problem);
        state.lastLoss().thrown(pending);
        return lost;
    }

    /** As {@link #lost}, but nobody is told yet by a call: the renewer has none. */
    LockLostException found(Hold.PendingRequest pending, LossReason reason, String problem) {
        return new LockLostException(pending.key().resource(), problem, run(state.lose(pending, reason)));
    }

    /** A call that fails while what it is about is lost has to say so: its thread may not be told otherwise. */
    void throwIfLost(Hold.PendingRequest pending, @Nullable Throwable failure) {
        if (pending.isFresh() || state.isCurrent(pending)) {
            return;
        }
        state.lastLoss().thrown(pending).ifPresent(reason -> {
            var lost = new LockLostException(
                    pending.key().resource(), "it was lost, and the request to the store failed", reason);
            if (failure != null) {
                lost.addSuppressed(failure);
            }
            throw lost;
        });
    }

    void tell(List<Consumer<? super LossReason>> listeners, LossReason reason) {
        listeners.forEach(listener -> threads.notifier().execute(() -> callListener(() -> listener.accept(reason))));
    }

    private void callListener(Runnable call) {
        try {
            call.run();
        } catch (Throwable e) {
            // Also an Error: the listeners after it are told all the same.
            log.error("lock.listener_failed resource={}", shownResource(), e);
        }
    }

    private String shownResource() {
        return LockException.shown(state.resource());
    }
}
