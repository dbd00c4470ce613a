package dev.latchkey.dynamodb;

import java.time.Duration;
import java.util.OptionalLong;

/**
 * A version of the record of a hold, as this process has seen it, by its monotonic clock. The version was written before it was
 * seen. Once it has been seen for a whole lease without a change, its writer counts on it no longer.
 *
 * @param version which
 * @param lease how long its writer counts on it
 * @param seenNanos a moment at which it had been written already
 * @param writtenNanos a moment before which it had not been written; empty if another store wrote it
 */
record Observation(String version, Duration lease, long seenNanos, OptionalLong writtenNanos) {

    /** A version that this store wrote. */
    static Observation ofOwn(String version, Duration lease, long sentNanos) {
        return new Observation(version, lease, System.nanoTime(), OptionalLong.of(sentNanos));
    }

    /** A version that was read. */
    static Observation ofOther(String version, Duration lease) {
        return new Observation(version, lease, System.nanoTime(), OptionalLong.empty());
    }

    boolean isOver() {
        return nanosLeft() <= 0;
    }

    /** The rest of the time after which the hold counts as dead, if it is not renewed. */
    Duration left() {
        return Duration.ofNanos(Math.max(1, nanosLeft()));
    }

    private long nanosLeft() {
        return lease.toNanos() - (System.nanoTime() - seenNanos);
    }
}
