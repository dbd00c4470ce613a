package dev.latchkey;

import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One hold from its grant to its end, over all renewals and changes of mode: late alarms, renewals and loss signals are
 * compared with it, so that they never touch the next hold.
 */
final class Watch {

    private final long sinceNanos = System.nanoTime();
    private @Nullable Future<?> alarm;
    private @Nullable Future<?> renewal;
    private @Nullable Object lastSeen;
    private @Nullable Deadline warnedOf;
    private @Nullable Thread interrupted;
    private boolean ended;
    private boolean lost;

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

    /** Has the thread interrupted that works under this hold, if it is lost. */
    synchronized void interruptsOnLoss(Thread worker) {
        interrupted = worker;
        if (lost) {
            worker.interrupt();
        }
    }

    synchronized void end() {
        ended = true;
        cancel(alarm);
        cancel(renewal);
    }

    /** A thread that finds out by a call of its own is told by that call. */
    synchronized void endAsLost() {
        lost |= !ended;
        end();
        if (lost && interrupted != null && interrupted != Thread.currentThread()) {
            interrupted.interrupt();
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
}
