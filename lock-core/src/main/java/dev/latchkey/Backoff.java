package dev.latchkey;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How long a polling waiter pauses between two tries: doubling from 5 ms to 1 s, jittered, cut short by a hint. One that
 * is told when to try pauses until the hint, and tries every now and then in case it was not told.
 */
final class Backoff {

    private static final long FIRST_NANOS = Duration.ofMillis(5).toNanos();
    private static final long LONGEST_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long WATCHED_NANOS = Duration.ofSeconds(30).toNanos();
    private static final long PAST_THE_HINT_NANOS = Duration.ofMillis(1).toNanos();

    private long next = FIRST_NANOS;

    /**
     * Returns the next pause.
     *
     * @param hint when the store expects the conflict to end; zero: unknown. It only shortens the pause, because the
     *     holder may release sooner
     */
    long nextNanos(Duration hint) {
        long bound = next;
        next = Math.min(2 * next, LONGEST_NANOS);
        return untilHint(hint, jittered(bound));
    }

    /** Returns the pause of one who is told when to try, and begins again with short ones for when it is not. */
    long watchedNanos(Duration hint) {
        next = FIRST_NANOS;
        return untilHint(hint, jittered(WATCHED_NANOS));
    }

    private static long jittered(long bound) {
        return ThreadLocalRandom.current().nextLong(bound / 2, bound + 1);
    }

    private static long untilHint(Duration hint, long pause) {
        boolean hintIsSooner = !hint.isZero() && hint.compareTo(Duration.ofNanos(pause)) < 0;
        return hintIsSooner ? hint.toNanos() + PAST_THE_HINT_NANOS : pause;
    }
}
