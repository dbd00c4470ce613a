package dev.latchkey.testkit;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long tests wait for what has to happen, where the time it takes is not what they test. Nobody waits so long on an idle
 * machine. On a busy one the limits are longer, by its load per processor when the JVM starts, or by the number in the
 * environment variable {@code LATCHKEY_TEST_TIME_FACTOR}.
 */
public final class TimeLimits {

    private static final double FACTOR = factor(System.getenv("LATCHKEY_TEST_TIME_FACTOR"));

    private static final double LONGEST_TTL_FACTOR = 4;

    /** For any one thing to happen. */
    public static final Duration LIMIT = scaled(Duration.ofSeconds(60));

    private TimeLimits() {}

    /**
     * Returns a limit for this machine.
     *
     * @param onIdleMachine the limit that would do on an idle machine
     * @return at least as much
     */
    public static Duration scaled(Duration onIdleMachine) {
        return Duration.ofMillis((long) (onIdleMachine.toMillis() * FACTOR));
    }

    /**
     * Returns a TTL that a call fits into, and that a test waits for: on a busy machine a longer one, but at most four times as
     * long.
     *
     * @param onIdleMachine the TTL that would do on an idle machine
     * @return at least as much
     */
    public static Duration ttl(Duration onIdleMachine) {
        return Duration.ofMillis((long) (onIdleMachine.toMillis() * Math.min(FACTOR, LONGEST_TTL_FACTOR)));
    }

    private static double factor(@Nullable String given) {
        if (given != null) {
            return Double.parseDouble(given);
        }
        var system = ManagementFactory.getOperatingSystemMXBean();
        // Negative where it is not known.
        return Math.max(1, system.getSystemLoadAverage() / system.getAvailableProcessors());
    }
}
