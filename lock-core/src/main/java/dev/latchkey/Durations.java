package dev.latchkey;

import java.time.Duration;
import java.util.Objects;

/** The limits of the durations a caller may give. */
final class Durations {

    static final Duration DEFAULT_TTL = Duration.ofMinutes(5);

    /** Far enough to mean "for ever", near enough for arithmetic on {@link System#nanoTime()}. */
    static final Duration LONGEST = Duration.ofDays(36_500);

    /** The shortest TTL of which the drift margin leaves something. */
    static final Duration SHORTEST_TTL = Duration.ofMillis(3);

    private static final long DRIFT_NANOS = Duration.ofMillis(2).toNanos();

    private Durations() {}

    static Duration checkTtl(Duration ttl) {
        Objects.requireNonNull(ttl, "ttl must not be null: leave it out for the default of " + DEFAULT_TTL);
        if (ttl.compareTo(SHORTEST_TTL) < 0 || ttl.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("a TTL of " + ttl + " is out of range: it must be from " + SHORTEST_TTL
                    + " (a shorter one could end before it is granted) to " + LONGEST);
        }
        return ttl;
    }

    static Duration checkMinHold(Duration minHold) {
        if (minHold.isNegative() || minHold.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "minHold " + minHold + " is out of range: it must be from zero to " + LONGEST);
        }
        return minHold;
    }

    static Duration checkMaxWait(Duration maxWait) {
        Objects.requireNonNull(maxWait, "maxWait must not be null: use acquire() to wait without limit");
        if (maxWait.isNegative()) {
            throw new IllegalArgumentException(
                    "a max wait of " + maxWait + " is negative: zero tries once without waiting");
        }
        return maxWait.compareTo(LONGEST) > 0 ? LONGEST : maxWait;
    }

    static Duration min(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    static Duration max(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? other : one;
    }

    /** What of a TTL can be relied on when clocks do not run alike. */
    static long lessDriftNanos(Duration ttl) {
        long nanos = ttl.toNanos();
        return nanos - nanos / 100 - DRIFT_NANOS;
    }
}
