package dev.latchkey;

import dev.latchkey.LockListener.End;
import dev.latchkey.events.AcquireCall.Outcome;
import dev.latchkey.events.HoldRecord;
import dev.latchkey.events.LockEvents;
import dev.latchkey.spi.RefreshResult;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One hold from its grant to its end, over all renewals and changes of mode: late alarms, renewals and loss signals are
 * compared with it, so that they never touch the next hold.
 */
final class HoldTracker {

    /**
     * How an acquire that could wait has ended.
     *
     * @param hold what the Lock held when its turn ended
     */
    record Acquired(Outcome outcome, Optional<HoldTracker> hold) {}

    private final long sinceNanos = System.nanoTime();
    private @Nullable Future<?> alarm;
    private @Nullable Future<?> renewal;
    private boolean renewalFails;
    private boolean renewalUnanswered;
    private @Nullable Object lastSeen;
    private @Nullable Deadline warnedOf;
    private @Nullable WorkerInterrupt interruption;
    private volatile @Nullable Deadline minHoldEnd;
    private boolean ended;
    private @Nullable LossReason loss;

    /** How many acquires count on it, and whoever else has found it to be held. */
    private int claims;

    /** What is told of this hold; null until its begin was told, and if nobody hears of it. */
    private @Nullable HoldRecord told;

    private boolean isEndTold;

    /** The end that came before the begin was told, which has to come first. */
    private @Nullable Consumer<HoldRecord> untoldEnd;

    /** In the turn of an acquire that was granted this: what was held before, and by no acquire, somebody counts on as well. */
    synchronized void claim(boolean isFresh) {
        claims = claims == 0 && !isFresh ? 2 : claims + 1;
    }

    /** Gives up the claim of an acquire; true if nobody is left who counts on this. */
    synchronized boolean disclaim() {
        claims--;
        return claims == 0;
    }

    /** Replaces the alarm, unless the hold has ended. */
    synchronized void rearm(Supplier<? extends @Nullable Future<?>> next) {
        cancel(alarm);
        alarm = ended ? null : next.get();
    }

    synchronized boolean isRenewed() {
        return renewal != null;
    }

    /** Whether this signal of loss is another than the last one: a promoted hold may come with a new one. */
    synchronized boolean seesFirst(Object signal) {
        boolean first = lastSeen != signal;
        lastSeen = signal;
        return first;
    }

    synchronized boolean hasWarnedOf(@Nullable Deadline deadline) {
        return deadline != null && deadline.equals(warnedOf);
    }

    /** Whether the holder has not been warned of this end before. */
    synchronized boolean warnsFirst(Deadline deadline) {
        boolean first = !ended && !deadline.equals(warnedOf);
        warnedOf = deadline;
        return first;
    }

    synchronized void renewNext(Supplier<? extends Future<?>> next) {
        cancel(renewal);
        renewal = ended ? null : next.get();
    }

    /** From now on the store is to blame if the lease ends. */
    synchronized void renewalBegins() {
        renewalUnanswered = true;
    }

    /** Notes how the last renewal went; true if it failed, and the one before it did not. */
    synchronized boolean renewalEnds(RefreshResult result) {
        boolean fails = result instanceof RefreshResult.Failed;
        boolean isNews = fails && !renewalFails;
        renewalFails = fails;
        renewalUnanswered = false;
        return isNews;
    }

    /** Why it is over, as it looks: what could not be renewed is lost by that. */
    synchronized LossReason lossBy(LossReason why) {
        return why == LossReason.EXPIRED && (renewalFails || renewalUnanswered) ? LossReason.STORE_UNREACHABLE : why;
    }

    /** The store has answered, to whatever request, that it is held. */
    synchronized void isHeldOn() {
        renewalFails = false;
        renewalUnanswered = false;
    }

    /** Has the thread interrupted that works under this hold, if it is lost; at once, if it has been lost before. */
    void interruptsOnLoss(Thread worker) {
        WorkerInterrupt mine;
        synchronized (this) {
            mine = interruption == null ? new WorkerInterrupt() : interruption;
            interruption = mine;
        }
        mine.of(worker);
        if (interruption() != null) {
            mine.happen(null);
        }
    }

    /** When this returns, the worker has been interrupted for the loss of this hold, unless it knows of that. */
    void interruptsNow(@Nullable Thread knows) {
        WorkerInterrupt due = interruption();
        if (due != null) {
            due.happen(knows);
        }
    }

    /** What has to happen to the worker now that the hold is lost; null if nothing. */
    synchronized @Nullable WorkerInterrupt interruption() {
        return loss != null ? interruption : null;
    }

    synchronized boolean interruptsOnLoss() {
        return interruption != null;
    }

    /** Whether an interrupt tells the worker of a loss: not if a call of its own has found it, which has to tell it then. */
    synchronized boolean tellsByInterrupt(@Nullable Thread finder) {
        return interruption != null && interruption.worker != finder;
    }

    /** Whether the worker may still be interrupted for the loss of this hold. */
    synchronized boolean mayInterrupt() {
        return interruption != null && interruption.isDue();
    }

    /** When this returns, the worker is not interrupted any more for the loss of this hold. */
    void interruptsNobody() {
        WorkerInterrupt mine;
        synchronized (this) {
            mine = interruption;
        }
        if (mine != null) {
            mine.cancel();
        }
    }

    /** Keeps the resource from others until then, in place of the min hold of the Lock. */
    void minHoldEnds(Deadline end) {
        minHoldEnd = end;
    }

    /** How much longer the resource is kept from others, also if it is released now; zero or less for not at all. */
    Duration restOf(Duration minHold) {
        Deadline end = minHoldEnd;
        if (end != null) {
            return end.remaining();
        }
        return minHold.isZero() ? minHold : minHold.minusNanos(heldNanos());
    }

    synchronized void end() {
        ended = true;
        cancel(alarm);
        cancel(renewal);
    }

    synchronized void endAsLost(LossReason reason) {
        loss = ended ? loss : reason;
        end();
    }

    /** Why the hold was lost; null if it was not. */
    synchronized @Nullable LossReason loss() {
        return loss;
    }

    /** Tells of the begin, unless it was told before, or nobody hears of it. */
    void tellBegin(LockEvents events, String resource, LockMode mode) {
        if (events.isOn()) {
            synchronized (this) {
                if (told == null) {
                    told = events.hold(resource, mode);
                    if (untoldEnd != null) {
                        untoldEnd.accept(told);
                    }
                }
            }
        }
    }

    /** Tells that it was given up, unless another end was told before. */
    void tellEnd(End end) {
        Duration held = Duration.ofNanos(heldNanos());
        tellEnd(record -> record.released(end, held));
    }

    /** Tells that it is lost, unless another end was told before. */
    void tellLoss(LossReason reason) {
        Duration held = Duration.ofNanos(heldNanos());
        tellEnd(record -> record.lost(reason, held));
    }

    private synchronized void tellEnd(Consumer<HoldRecord> end) {
        if (isEndTold) {
            return;
        }
        isEndTold = true;
        if (told != null) {
            end.accept(told);
        } else {
            untoldEnd = end;
        }
    }

    long heldMillis() {
        return heldNanos() / 1_000_000;
    }

    long heldNanos() {
        return System.nanoTime() - sinceNanos;
    }

    /** The last moment a hold may last that must not last longer than this. */
    Deadline endAfter(long maxHoldNanos) {
        return new Deadline(sinceNanos + maxHoldNanos);
    }

    private static void cancel(@Nullable Future<?> task) {
        if (task != null) {
            task.cancel(false);
        }
    }

    /**
     * Interrupts the thread that works under a hold, once, if the hold is lost. An interrupt runs code that is not ours, such as
     * the closing of a channel: no other guard is held meanwhile, and whoever releases the hold waits for it.
     */
    static final class WorkerInterrupt {

        private volatile @Nullable Thread worker;

        synchronized void of(Thread newWorker) {
            worker = newWorker;
        }

        /** A thread that finds out by a call of its own is told by that call. */
        synchronized void happen(@Nullable Thread finder) {
            Thread interrupted = worker;
            try {
                if (interrupted != null && interrupted != finder) {
                    interrupted.interrupt();
                }
            } finally {
                // Not before: who looks meanwhile has to wait for it.
                worker = null;
            }
        }

        /** Whether it has not happened yet; does not wait for one that is happening. */
        boolean isDue() {
            return worker != null;
        }

        /** When this returns, nobody is interrupted any more. */
        synchronized void cancel() {
            worker = null;
        }
    }
}
