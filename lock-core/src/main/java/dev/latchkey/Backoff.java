package dev.latchkey;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** How long a polling waiter pauses between two tries: doubling from 5 to 200 ms, jittered, cut short by a hint. */
final class Backoff {

    private static final long FIRST_NANOS = Duration.ofMillis(5).toNanos();
    private static final long LONGEST_NANOS = Duration.ofMillis(200).toNanos();
    private static final long PAST_THE_HINT_NANOS = Duration.ofMillis(1).toNanos();

    private long next = FIRST_NANOS;

    /**
     * Returns the next pause.
     *
     * @param hint when the store expects the conflict to end; zero: unknown. It only shortens the pause, because the
     *     holder may release sooner
     */
    long nextNanos(Duration hint) {
        long jittered = ThreadLocalRandom.current().nextLong(next / 2, next + 1);
        next = Math.min(2 * next, LONGEST_NANOS);
        boolean hintIsSooner = !hint.isZero() && hint.compareTo(Duration.ofNanos(jittered)) < 0;
        return hintIsSooner ? hint.toNanos() + PAST_THE_HINT_NANOS : jittered;
    }
}
