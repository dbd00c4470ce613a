package dev.latchkey.jdbc;

import java.time.Duration;

/**
 * How long the listener leaves its connection to others: as long as after any failure, if the pool was short once; longer each time
 * if it is short again within half a minute, as one is that has no connection to spare. Written by one thread at a time, read by any.
 */
final class ListenerPause {

    private static final long FIRST_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long LONGEST_NANOS = Duration.ofSeconds(30).toNanos();

    private volatile long nanos;
    private volatile long untilNanos;

    /**
     * Begins one.
     *
     * @param listenedNanos for how long it has listened since the last one
     * @param now of the monotonic clock
     * @return how long it takes
     */
    Duration begin(long listenedNanos, long now) {
        long next = nanos == 0 || listenedNanos >= LONGEST_NANOS ? FIRST_NANOS : Math.min(2 * nanos, LONGEST_NANOS);
        untilNanos = now + next;
        nanos = next;
        return Duration.ofNanos(next);
    }

    boolean isOver(long now) {
        return nanos == 0 || untilNanos - now <= 0;
    }
}
