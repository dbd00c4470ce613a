package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.servers.PostgresServer;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.ChildJvm;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Three processes with the lock of an old library are replaced one by one, while all of them work as often as they can. */
class RolloutIT {

    private static final int PROCESSES = 3;

    private final List<Program> started = new ArrayList<>();

    @TempDir
    private Path directory = Path.of("");

    @AfterEach
    void stop() {
        started.forEach(Program::close);
    }

    @ParameterizedTest
    @ValueSource(strings = {"redisson", "shedlock"})
    void givenOldProcesses_whenReplacedInThreeSteps_thenNoTwoWereAtItAtOnce(String library) throws Exception {
        assertThat(overlaps(library, "old", "both", "new")).isZero();
    }

    /** Why there has to be a step in the middle; and the test above can fail. */
    @ParameterizedTest
    @ValueSource(strings = {"redisson", "shedlock"})
    void givenOldProcesses_whenReplacedWithoutTheStepInTheMiddle_thenTwoWereAtItAtOnce(String library)
            throws Exception {
        assertThat(overlaps(library, "old", "new")).isPositive();
    }

    private int overlaps(String library, String... steps) throws Exception {
        if (library.equals("redisson")) {
            try (RedisServer server = RedisServer.start()) {
                return roll(library, server.dsn(), steps);
            }
        }
        try (PostgresServer server = PostgresServer.start()) {
            try (Connection connection = DriverManager.getConnection(server.jdbcUrl());
                    Statement statement = connection.createStatement()) {
                statement.execute("CREATE TABLE shedlock (name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP NOT NULL,"
                        + " locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL)");
            }
            return roll(library, server.dsn(), steps);
        }
    }

    /** The next process is at work before the oldest one stops, so that each step meets the one before and the one after. */
    private int roll(String library, String dsn, String... steps) throws Exception {
        Queue<Program> running = new ArrayDeque<>();
        int overlaps = 0;
        for (String step : steps) {
            for (int i = 0; i < PROCESSES; i++) {
                Program next = Program.start(
                        ChildJvm.of("rollout-" + library),
                        RolloutProcess.class,
                        library,
                        step,
                        dsn,
                        directory.resolve("occupied").toString());
                started.add(next);
                assertThat(next.line()).isEqualTo("settled");
                running.add(next);
                if (running.size() > PROCESSES) {
                    overlaps += stop(running.remove());
                }
            }
        }
        for (Program last : running) {
            overlaps += stop(last);
        }
        return overlaps;
    }

    private static int stop(Program process) throws Exception {
        String said = process.answers("stop");
        assertThat(said).matches("holds \\d+ overlaps \\d+");
        assertThat(process.end()).isZero();
        return Integer.parseInt(said.substring(said.lastIndexOf(' ') + 1));
    }
}
