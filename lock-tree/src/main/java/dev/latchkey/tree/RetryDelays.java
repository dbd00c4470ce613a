package dev.latchkey.tree;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Pauses between attempts after conflicts: they double from 5 ms to 1 s, with jitter, or a hint shortens them. */
final class RetryDelays {

    private static final long LONGEST_NANOS = Duration.ofSeconds(1).toNanos();

    private long next = Duration.ofMillis(5).toNanos();

    long nextNanos(Duration hint) {
        long pause = ThreadLocalRandom.current().nextLong(next / 2, next + 1);
        next = Math.min(2 * next, LONGEST_NANOS);
        return hint.isZero() ? pause : Math.min(pause, hint.plusMillis(1).toNanos());
    }
}
