package dev.latchkey.redis;

import java.time.Duration;

/** Who waits in the queue looks by itself five seconds after each answer, which is not what a test counts. */
final class Looks {

    private static final long SECONDS_APART = 5;

    private Looks() {}

    /** How often at most somebody has looked who has waited since that time; once more, if it waited before. */
    static long since(long nanos) {
        return Duration.ofNanos(System.nanoTime() - nanos).toSeconds() / SECONDS_APART;
    }
}
