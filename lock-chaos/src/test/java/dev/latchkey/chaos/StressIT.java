package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockMode;
import dev.latchkey.testkit.History;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * Everything goes wrong at random, and afterwards no two believed to hold at once, tokens have grown, nobody was overtaken in a
 * queue, refused promotions have changed nothing, nobody hangs and nothing is left. {@code ./stress redis} runs it for longer.
 */
class RedisStressIT {

    private static final long OPERATIONS = Long.getLong("latchkey.stress.operations", 3_000);
    private static final long SEED = Long.getLong("latchkey.stress.seed", new Random().nextLong());

    private static final Duration LONGEST_TTL = Duration.ofSeconds(1);

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path directory;

    @Test
    void givenFaultsOfAllKinds_whenManyTakeLocks_thenTheirHistoryIsSound() throws Exception {
        try (RedisOrdeal ordeal = new RedisOrdeal(directory)) {
            RedisOrdeal.Outcome outcome = ordeal.run(OPERATIONS, SEED);

            History history = outcome.history();
            System.out.printf(
                    "stress: seed %d, %d operations, %d exclusive and %d shared holds, %d in turn, %d refused"
                            + " promotions, faults %s%n",
                    SEED,
                    outcome.operations(),
                    history.holds(LockMode.EXCLUSIVE),
                    history.holds(LockMode.SHARED),
                    outcome.inTurn(),
                    outcome.refusals(),
                    outcome.faults());
            assertThat(history.violations())
                    .as("seed " + SEED + ", " + directory)
                    .isEmpty();
            assertThat(history.holds(LockMode.EXCLUSIVE)).isPositive();
            assertThat(outcome.inTurn()).isPositive();
            assertThat(outcome.refusals()).isPositive();
            assertThat(ordeal.keys().withoutTtl()).isEmpty();
            assertAllIsLetGo(ordeal);
        }
    }

    /** With the processes gone, each lease ends, and nothing begins another. */
    private static void assertAllIsLetGo(RedisOrdeal ordeal) {
        Awaitility.await()
                .atMost(LONGEST_TTL.multipliedBy(3))
                .untilAsserted(() -> assertThat(ordeal.keys().held()).isEmpty());
        ordeal.server().call("CONFIG", "RESETSTAT");
        Awaitility.await()
                .during(LONGEST_TTL)
                .atMost(LONGEST_TTL.multipliedBy(2))
                .until(() ->
                        List.copyOf(ordeal.keys().commands().keySet()).stream().noneMatch("evalsha"::equals));
    }
}
