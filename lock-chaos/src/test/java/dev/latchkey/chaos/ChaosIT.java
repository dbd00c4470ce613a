package dev.latchkey.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** The whole chain for some seconds: real servers, processes and signals. {@code ./chaos} runs it for longer, on all stores. */
class ChaosIT {

    private static final long SEED = Long.getLong("latchkey.chaos.seed", new Random().nextInt(1_000_000));

    private static final int MOST_TRIALS = 8;

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path directory;

    private Verdict tried(String name, StoreUnderTest backing, int seconds) throws Exception {
        Trial trial = Trial.chaos(Workload.CHAOS, Duration.ofSeconds(seconds), SEED, FaultSchedule.CHANGING, directory);
        try (backing) {
            History history = trial.run(backing);
            Verdict verdict = Checker.judge(backing.promise(), history);
            Report.print(System.out, name, trial, backing.promise(), history, verdict);
            return verdict;
        }
    }

    private static void assertProven(Verdict verdict) {
        assertThat(Arrays.stream(Rule.values()).flatMap(rule -> verdict.offences(rule).stream()))
                .as("seed " + SEED)
                .isEmpty();
    }

    @Test
    void givenRedis_whenAllGoesWrong_thenItsPromiseHolds() throws Exception {
        assertProven(tried("redis", RedisStores.redis(), 15));
    }

    @Test
    void givenLockFiles_whenProcessesCrashAndFreeze_thenTheirPromiseHolds() throws Exception {
        assertProven(tried("flock", Stores.flock(directory), 6));
    }

    /**
     * {@code ./chaos planted 2} tries all of them, and for longer. These two are refuted at any time; most others only in quiet
     * times, of which a machine that builds has too few.
     */
    @Test
    void givenAPlantedDefect_whenItStrikesSeldom_thenItIsFound() throws Exception {
        assertThat(isFound(Defect.GRANTS_TWICE)).isTrue();
        assertThat(isFound(Defect.REPEATS_TOKEN)).isTrue();
    }

    /** It strikes by chance, and the less often the busier the machine is: so it is looked for until it shows. */
    private static boolean isFound(Defect defect) throws Exception {
        for (int trial = 0; trial < MOST_TRIALS; trial++) {
            if (Planted.isFound(System.out, defect, Duration.ofSeconds(15), SEED + trial)) {
                return true;
            }
        }
        return false;
    }
}
