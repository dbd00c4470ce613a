package dev.latchkey.zookeeper;

/**
 * How long this process may have stood still recently, measured by a thread that reports at regular intervals. While a
 * process stands still, its client sends no pings. Thread-safe.
 */
final class Freezes {

    /** Each is at least a thirty-second of the session timeout, so together they cover more than one timeout. */
    private static final int LOOKS = 36;

    private final long[] gaps = new long[LOOKS];
    private int looks;
    private long lookedNanos;

    /** Starts at a time that must be before the start of the session. */
    Freezes(long nanos) {
        this.lookedNanos = nanos;
    }

    /** Returns the interval at which to call {@link #look}. */
    static long lookNanos(long timeoutNanos) {
        return timeoutNanos / 16;
    }

    /** Reports that this process runs. Calls that come much too soon are ignored: they would replace older gaps. */
    synchronized void look(long nowNanos, long timeoutNanos) {
        long gap = nowNanos - lookedNanos;
        if (gap >= lookNanos(timeoutNanos) / 2) {
            gaps[looks++ % LOOKS] = gap;
            lookedNanos = nowNanos;
        }
    }

    /** Returns the longest gap between reports within a session timeout: no freeze was longer. */
    synchronized long longestNanos(long nowNanos) {
        long longest = nowNanos - lookedNanos;
        for (long gap : gaps) {
            longest = Math.max(longest, gap);
        }
        return longest;
    }
}
