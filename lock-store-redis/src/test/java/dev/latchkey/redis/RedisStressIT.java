package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockMode;
import dev.latchkey.testkit.History;
import dev.latchkey.testkit.HistoryLog;
import dev.latchkey.testkit.RedisServer;
import dev.latchkey.testkit.Stress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
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
    /** What a message to a subscriber begins with; the answer to SUBSCRIBE cannot be lost alone. */
    private static final String MESSAGE = "message\r\n";

    private static final Duration LONGEST_TTL = Duration.ofSeconds(1);

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path directory;

    private RedisServer server;
    private RedisKeys keys;
    private Path histories;
    private HistoryLog log;

    @BeforeEach
    void start() throws Exception {
        server = RedisServer.startDurable();
        keys = new RedisKeys(server);
        histories = Files.createDirectory(directory.resolve("histories"));
        log = new HistoryLog(histories.resolve("server"));
    }

    @AfterEach
    void end() {
        log.close();
        server.close();
    }

    @Test
    void givenFaultsOfAllKinds_whenManyTakeLocks_thenTheirHistoryIsSound() throws Exception {
        Stress stress = new Stress(server.address(), address -> "redis://" + address, histories)
                .fault("script flush", 3, () -> server.call("SCRIPT", "FLUSH"))
                .fault("subscriptions cut", 3, () -> server.call("CLIENT", "KILL", "TYPE", "pubsub"))
                .fault("all connections cut", 1, () -> server.call("CLIENT", "KILL", "TYPE", "normal"))
                .fault("frozen server", 1, () -> server.freezeFor(Duration.ofMillis(200)))
                .fault("restart with data", 1, this::restart)
                .fault("restart without data", 1, this::restartEmpty)
                .fault("keys looked at", 4, () -> assertThat(keys.withoutTtl()).isEmpty())
                .messageFault("lost message", 5, proxy -> proxy.dropMessage(MESSAGE))
                .messageFault("cut at a message", 2, proxy -> proxy.cutAtMessage(MESSAGE))
                .messageFault("lost request", 5, proxy -> proxy.loseRequest("EVALSHA"))
                .messageFault("lost reply", 8, proxy -> proxy.loseReplyTo("EVALSHA"));

        History history;
        OrderWatch order = new OrderWatch(server.address(), log);
        RefusalWatch refusals = new RefusalWatch(server.address(), log, SEED);
        try (order;
                refusals) {
            history = stress.run(OPERATIONS, SEED);
        }

        System.out.printf(
                "stress: seed %d, %d operations, %d exclusive and %d shared holds, %d in turn, %d refused promotions, faults %s%n",
                SEED,
                stress.operations(),
                history.holds(LockMode.EXCLUSIVE),
                history.holds(LockMode.SHARED),
                order.judged(),
                refusals.compared(),
                stress.faults());
        assertThat(history.violations()).as("seed " + SEED + ", " + histories).isEmpty();
        assertThat(history.holds(LockMode.EXCLUSIVE)).isPositive();
        assertThat(order.judged()).isPositive();
        assertThat(refusals.compared()).isPositive();
        assertThat(keys.withoutTtl()).isEmpty();
        assertAllIsLetGo();
    }

    private void restart() {
        server.kill();
        server.restart();
    }

    private void restartEmpty() {
        log.dataLost(System.nanoTime());
        server.kill();
        server.restartEmpty();
    }

    /** With the processes gone, each lease ends, and nothing begins another. */
    private void assertAllIsLetGo() {
        Awaitility.await()
                .atMost(LONGEST_TTL.multipliedBy(3))
                .untilAsserted(() -> assertThat(keys.held()).isEmpty());
        server.call("CONFIG", "RESETSTAT");
        Awaitility.await()
                .during(LONGEST_TTL)
                .atMost(LONGEST_TTL.multipliedBy(2))
                .until(() -> List.copyOf(keys.commands().keySet()).stream().noneMatch("evalsha"::equals));
    }
}
