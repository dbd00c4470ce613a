package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.History;
import dev.latchkey.testkit.HistoryLog;
import dev.latchkey.testkit.Stress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.UnaryOperator;

/** A Redis server under faults of all kinds, while many take locks, and all who can judge it write down what they see. */
final class RedisOrdeal implements AutoCloseable {

    /** What a message to a subscriber begins with; the answer to SUBSCRIBE cannot be lost alone. */
    private static final String MESSAGE = "message\r\n";

    /**
     * What came of it.
     *
     * @param history of all processes, judged
     * @param operations how many were done
     * @param inTurn how many grants were looked at while somebody waited
     * @param refusals how many refused promotions were compared
     * @param faults how often each struck
     */
    record Outcome(History history, long operations, long inTurn, long refusals, Map<String, Integer> faults) {}

    private final RedisServer server = RedisServer.startDurable();
    private final RedisKeys keys = new RedisKeys(server);
    private final Path directory;

    /**
     * Starts the server.
     *
     * @param directory for the histories, each in a directory of its own
     */
    RedisOrdeal(Path directory) {
        this.directory = directory;
    }

    RedisServer server() {
        return server;
    }

    RedisKeys keys() {
        return keys;
    }

    Outcome run(long operations, long seed) throws Exception {
        return run(operations, seed, stress -> stress);
    }

    /** Runs with something more than the faults. */
    Outcome run(long operations, long seed, UnaryOperator<Stress> more) throws Exception {
        Path histories = Files.createDirectory(
                Files.createTempDirectory(directory, "run-").resolve("histories"));
        try (HistoryLog log = new HistoryLog(histories.resolve("server"))) {
            Stress stress = more.apply(stress(histories, log));
            OrderWatch order = new OrderWatch(server.address(), log);
            RefusalWatch refusals = new RefusalWatch(server.address(), log, seed);
            History history;
            try (order;
                    refusals) {
                history = stress.run(operations, seed);
            }
            return new Outcome(history, stress.operations(), order.judged(), refusals.compared(), stress.faults());
        }
    }

    private Stress stress(Path histories, HistoryLog log) {
        return new Stress(server.address(), address -> "redis://" + address, histories)
                .fault("script flush", 3, () -> server.call("SCRIPT", "FLUSH"))
                .fault("subscriptions cut", 3, () -> server.call("CLIENT", "KILL", "TYPE", "pubsub"))
                .fault("all connections cut", 1, () -> server.call("CLIENT", "KILL", "TYPE", "normal"))
                .fault("frozen server", 1, () -> server.freezeFor(Duration.ofMillis(200)))
                .fault("restart with data", 1, this::restart)
                .fault("restart without data", 1, () -> restartEmpty(log))
                .fault("keys looked at", 4, () -> assertThat(keys.withoutTtl()).isEmpty())
                .messageFault("lost message", 5, proxy -> proxy.dropMessage(MESSAGE))
                .messageFault("cut at a message", 2, proxy -> proxy.cutAtMessage(MESSAGE))
                .messageFault("lost request", 5, proxy -> proxy.loseRequest("EVALSHA"))
                .messageFault("lost reply", 8, proxy -> proxy.loseReplyTo("EVALSHA"));
    }

    private void restart() {
        server.kill();
        server.restart();
    }

    private void restartEmpty(HistoryLog log) {
        log.dataLost(System.nanoTime());
        server.kill();
        server.restartEmpty();
    }

    @Override
    public void close() {
        server.close();
    }
}
