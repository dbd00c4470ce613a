package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.testkit.Stress;
import dev.latchkey.testkit.TimeLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Judges the judge of {@link RedisStressIT}: each {@link Plant} is refuted within two minutes. The build tries two, and {@code
 * ./stress planted} all.
 */
class RedisPlantedIT {

    private static final boolean ALL = Boolean.getBoolean("latchkey.stress.planted");
    private static final long SEED = Long.getLong("latchkey.stress.seed", new Random().nextLong());

    /** Of so many holds about one is spoilt. A build has seconds for it. */
    private static final int ONE_OF = ALL ? 500 : 50;

    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final long OPERATIONS_OF_A_RUN = ALL ? 4_000 : 1_500;

    /** A machine that gets on with less than these in the time has not tried. */
    private static final long FEWEST_OPERATIONS = 40_000;

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path directory;

    static Set<Plant> plants() {
        return ALL ? EnumSet.allOf(Plant.class) : EnumSet.of(Plant.GRANTS_TWICE, Plant.REPEATS_TOKEN);
    }

    @ParameterizedTest
    @MethodSource("plants")
    void givenAPlantedDefect_whenItStrikesSeldom_thenTheHistoryIsRefuted(Plant plant) throws Exception {
        Path classes = plant.in(directory, ONE_OF);
        long began = System.nanoTime();
        long operations = 0;
        List<String> refutations = List.of();
        try (RedisOrdeal ordeal = new RedisOrdeal(directory)) {
            for (long run = 0; refutations.isEmpty() && isToGoOn(began, operations); run++) {
                RedisOrdeal.Outcome outcome = ordeal.run(
                        OPERATIONS_OF_A_RUN, SEED + run, stress -> calm(stress).findsFirst(classes));
                operations += outcome.operations();
                refutations = outcome.history().violations().stream()
                        .filter(plant::isRefutedBy)
                        .toList();
            }
        }
        System.out.printf(
                "planted: %s refuted %d times in %d operations, %d s, seed %d%n",
                plant,
                refutations.size(),
                operations,
                Duration.ofNanos(System.nanoTime() - began).toSeconds(),
                SEED);
        assertThat(refutations).isNotEmpty();
    }

    /** More is done, and more is planted, where less strikes. */
    private static Stress calm(Stress stress) {
        return stress.fault("nothing", 150, () -> {});
    }

    private static boolean isToGoOn(long began, long operations) {
        return System.nanoTime() - began < LIMIT.toNanos() || operations < FEWEST_OPERATIONS;
    }
}
