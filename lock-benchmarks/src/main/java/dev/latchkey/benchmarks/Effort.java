package dev.latchkey.benchmarks;

import java.time.Duration;

/**
 * How much is done for trustworthy figures.
 *
 * @param turns of each contender, in alternation
 * @param turn how long one is
 * @param tries how often all of them take their turns, the same JVMs, until none gets faster any more
 * @param warmUpCycles how many each JVM has gone through before
 * @param warmUp how long a JVM has for these
 * @param mostWarmUpTurns how many turns the contenders take, in alternation, until each has come to a plateau
 * @param patience how much longer than its time a turn may take before the contender is cut
 */
record Effort(
        int turns,
        Duration turn,
        int tries,
        long warmUpCycles,
        Duration warmUp,
        int mostWarmUpTurns,
        Duration patience) {

    static final Effort FULL =
            new Effort(14, Duration.ofMillis(500), 5, 100_000, Duration.ofSeconds(5), 40, Duration.ofSeconds(10));

    /** Shows that everything works, and nothing else. */
    static final Effort QUICK =
            new Effort(3, Duration.ofMillis(200), 1, 200, Duration.ofMillis(500), 0, Duration.ofSeconds(60));
}
