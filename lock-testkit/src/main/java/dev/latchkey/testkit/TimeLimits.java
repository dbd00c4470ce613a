package dev.latchkey.testkit;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * How long tests wait for what has to happen, where the time it takes is not what they test. Nobody waits so long on an idle
 * machine. On a busy one the limits are longer, by its load per processor, or by the number in the environment variable
 * {@code LATCHKEY_TEST_TIME_FACTOR}.
 */
public final class TimeLimits {

    private static final @Nullable String SET = System.getenv("LATCHKEY_TEST_TIME_FACTOR");

    /** When the JVM started. */
    private static final double FACTOR = factor();

    private static final double LONGEST_TTL_FACTOR = 4;

    /** The load is an average: that of what begins just now does not show for a while. */
    private static final double LEAST_FACTOR = 2;

    /** How long {@link #get} waits without a break. */
    private static final Duration TURN = Duration.ofMillis(250);

    /** For any one thing to happen. */
    public static final Duration LIMIT = scaled(Duration.ofSeconds(60));

    private TimeLimits() {}

    /**
     * Returns a limit for this machine, as busy as it is now or was when the JVM started.
     *
     * @param onIdleMachine the limit that would do on an idle machine
     * @return at least twice as much
     */
    public static Duration scaled(Duration onIdleMachine) {
        return times(onIdleMachine, Math.max(LEAST_FACTOR, Math.max(FACTOR, factor())));
    }

    /**
     * Returns how long a waiter that the store wakes may take to notice, from the release to the grant: less than the 5 s after
     * which such a waiter would look by itself, and with as much room as that leaves to a busy machine.
     */
    static Duration untilWoken() {
        return Duration.ofSeconds(4);
    }

    /**
     * Returns a TTL that a call fits into, and that a test waits for: on a busy machine a longer one, but at most four times as
     * long, and the same throughout the JVM.
     *
     * @param onIdleMachine the TTL that would do on an idle machine
     * @return at least twice as much
     */
    public static Duration ttl(Duration onIdleMachine) {
        return times(onIdleMachine, Math.min(Math.max(LEAST_FACTOR, FACTOR), LONGEST_TTL_FACTOR));
    }

    /**
     * Waits for a result for as long as a limit that cannot grow with the load. It waits in short turns, so that a machine that
     * stands still for seconds uses up no more than one of them, and what it kept from running has another one.
     */
    static <T> T get(Future<T> future, Duration limit)
            throws InterruptedException, ExecutionException, TimeoutException {
        long left = limit.toNanos();
        while (true) {
            long start = System.nanoTime();
            try {
                return future.get(TURN.toMillis(), TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                long took = System.nanoTime() - start;
                boolean stoodStill = took > 2 * TURN.toNanos();
                left -= stoodStill ? TURN.toNanos() : took;
                if (left <= 0 && !stoodStill) {
                    throw e;
                }
            }
        }
    }

    private static Duration times(Duration onIdleMachine, double factor) {
        return Duration.ofMillis((long) (onIdleMachine.toMillis() * factor));
    }

    private static double factor() {
        if (SET != null) {
            return Double.parseDouble(SET);
        }
        var system = ManagementFactory.getOperatingSystemMXBean();
        // Negative where it is not known.
        return Math.max(1, system.getSystemLoadAverage() / system.getAvailableProcessors());
    }
}
