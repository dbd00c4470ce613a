package dev.latchkey.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The short form of {@code ./stress redis} and {@code ./stress planted}. */
class StressIT {

    private static final long SEED = Long.getLong("latchkey.stress.seed", new Random().nextInt(1_000_000));

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"STRESS", "STICKY_STRESS"})
    void givenFaultsOfAllKinds_whenManyTakeLocks_thenTheirHistoryIsSound(String workload) throws Exception {
        Trial trial = Trial.stress(Workload.named(workload), new RapidFaults(3_000, SEED, 0), directory);
        try (StoreUnderTest redis = RedisStores.stressedRedis(SEED)) {
            History history = trial.run(redis);
            Verdict verdict = Checker.judge(redis.promise(), history);

            Report.print(System.out, "redis under stress", trial, redis.promise(), history, verdict);
            assertThat(Arrays.stream(Rule.values()).flatMap(rule -> verdict.offences(rule).stream()))
                    .as("seed " + SEED)
                    .isEmpty();
        }
    }

    /** {@code ./stress planted} tries all of them, and at one of 500 holds. */
    @ParameterizedTest
    @EnumSource(names = {"GRANTS_TWICE", "REPEATS_TOKEN"})
    void givenAPlantedDefect_whenItStrikesSeldom_thenTheHistoryIsRefuted(PlantedScript planted) throws Exception {
        PlantedScripts search = new PlantedScripts(50, Duration.ofMinutes(2), 40_000, 1_500);

        assertThat(search.isFound(System.out, planted, SEED)).isTrue();
    }
}
