package dev.latchkey.leader;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How long to wait before standing again.
 *
 * @param first after a term, and after a first failure
 * @param longest after many failures in a row
 */
record Backoff(Duration first, Duration longest) {

    /** Nobody waits longer, and its nanoseconds can be doubled. */
    private static final Duration FOR_EVER = Duration.ofDays(36_500);

    Backoff {
        first = first.compareTo(FOR_EVER) < 0 ? first : FOR_EVER;
        longest = longest.compareTo(FOR_EVER) < 0 ? longest : FOR_EVER;
    }

    /** Doubled with each failure in a row after the first, and up to a half longer, so that candidates do not all come at once. */
    Duration after(int failures) {
        long nanos = first.toNanos();
        for (int i = 1; i < failures && nanos < longest.toNanos(); i++) {
            nanos *= 2;
        }
        nanos = Math.min(nanos, longest.toNanos());
        return Duration.ofNanos(nanos + ThreadLocalRandom.current().nextLong(nanos / 2 + 1));
    }
}
