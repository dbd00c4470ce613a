package dev.latchkey.zookeeper;

/**
 * For how long this process may have stood still lately, by a thread that says again and again that it runs: as long as that
 * the client cannot have said that its session is there. Thread-safe.
 */
final class Freezes {

    /** So many, each at least so small a part of the session timeout, make up more than a whole one. */
    private static final int LOOKS = 36;

    private final long[] gaps = new long[LOOKS];
    private int looks;
    private long lookedNanos;

    /** Begins then, which is to be before the session does: what came before that is not known. */
    Freezes(long nanos) {
        this.lookedNanos = nanos;
    }

    /** How often {@link #look} is to be called. */
    static long lookNanos(long timeoutNanos) {
        return timeoutNanos / 16;
    }

    /** This process runs. Calls that come much too soon do not count: they would push others out. */
    synchronized void look(long nowNanos, long timeoutNanos) {
        long gap = nowNanos - lookedNanos;
        if (gap >= lookNanos(timeoutNanos) / 2) {
            gaps[looks++ % LOOKS] = gap;
            lookedNanos = nowNanos;
        }
    }

    /** The longest time within a session timeout in which nobody has looked: no freeze was longer. */
    synchronized long longestNanos(long nowNanos) {
        long longest = nowNanos - lookedNanos;
        for (long gap : gaps) {
            longest = Math.max(longest, gap);
        }
        return longest;
    }
}
