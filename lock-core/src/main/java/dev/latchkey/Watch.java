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
    private boolean ended;

    /** Replaces the alarm; the supplier runs inside, so that of two callers the later sees the newer deadline. */
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

    synchronized void renewNext(Supplier<? extends Future<?>> next) {
        cancel(renewal);
        renewal = ended ? null : next.get();
    }

    synchronized void end() {
        ended = true;
        cancel(alarm);
        cancel(renewal);
    }

    long heldMillis() {
        return (System.nanoTime() - sinceNanos) / 1_000_000;
    }

    private static void cancel(@Nullable Future<?> task) {
        if (task != null) {
            task.cancel(false);
        }
    }
}
