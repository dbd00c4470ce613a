package dev.latchkey.documents;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Limits how often and how long something is repeated, with random pauses that double from 1 to 128 ms. */
record Retry(int maxAttempts, Duration maxWait) {

    private static final int LONGEST = 7;

    Retry {
        if (maxAttempts < 1) {
            throw new IllegalArgumentException("max attempts of " + maxAttempts + ": it must be 1 or more");
        }
        if (maxWait.isNegative()) {
            throw new IllegalArgumentException(
                    "a max wait of " + maxWait + " is negative: zero tries once without waiting");
        }
    }

    /** Repeats as often as the time allows. */
    static Retry within(Duration maxWait) {
        return new Retry(Integer.MAX_VALUE, maxWait);
    }

    Attempts start() {
        return new Attempts(System.nanoTime());
    }

    /** Counts the attempts of one thread. */
    final class Attempts {

        private final long start;
        private int made = 1;

        private Attempts(long start) {
            this.start = start;
        }

        int made() {
            return made;
        }

        /** Pauses before the next attempt. Returns false if there is none. */
        boolean again() throws InterruptedException {
            long left = nanos(maxWait) - (System.nanoTime() - start);
            if (made >= maxAttempts || left <= 0) {
                return false;
            }
            long bound = TimeUnit.MILLISECONDS.toNanos(1L << Math.min(made - 1, LONGEST));
            TimeUnit.NANOSECONDS.sleep(
                    Math.min(left, ThreadLocalRandom.current().nextLong(bound / 2, bound + 1)));
            made++;
            return true;
        }

        private static long nanos(Duration wait) {
            return wait.compareTo(Duration.ofDays(36_500)) > 0 ? Long.MAX_VALUE : wait.toNanos();
        }
    }
}
