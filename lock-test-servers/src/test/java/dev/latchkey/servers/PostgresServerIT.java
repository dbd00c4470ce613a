package dev.latchkey.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class PostgresServerIT {

    @Test
    void givenServer_whenKilledAndRestarted_thenItHasWhatWasCommitted() throws Exception {
        try (PostgresServer server = PostgresServer.start()) {
            run(server, "CREATE TABLE a AS SELECT 7 AS n");

            server.kill();
            server.restart();

            assertThat(number(server, "SELECT n FROM a")).isEqualTo(7);
        }
    }

    @Test
    void givenServer_whenKilledAndRestartedEmpty_thenItsDataIsGone() throws Exception {
        try (PostgresServer server = PostgresServer.start()) {
            run(server, "CREATE TABLE a AS SELECT 7 AS n");

            server.kill();
            server.restartEmpty();

            assertThatThrownBy(() -> number(server, "SELECT n FROM a")).isInstanceOf(SQLException.class);
        }
    }

    /** The kernel kept a segment of shared memory of each, until it had no more for anybody. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void givenServerOfThisMachine_whenKilled_thenTheKernelKeepsNoMemoryOfIt() throws Exception {
        assumeTrue(
                PostgresLaunchers.chosen().toString().startsWith("/"),
                "PostgreSQL runs in a container, and the kernel removes what that had");
        try (PostgresServer server = PostgresServer.start()) {
            int segment = number(
                    server,
                    "SELECT split_part(trim(split_part(pg_read_file('postmaster.pid'), E'\\n', 7)),"
                            + " ' ', -1)::int");
            assertThat(segments()).contains(segment);

            server.kill();

            assertThat(segments()).doesNotContain(segment);
        }
    }

    private static List<Integer> segments() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/sysvipc/shm"))) {
            return lines.skip(1)
                    .map(line -> Integer.valueOf(line.strip().split(" +", 3)[1]))
                    .toList();
        }
    }

    @Test
    void givenServer_whenFrozen_thenAnOpenConnectionAnswersOnlyOnceThawed() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                Connection connection = server.connect()) {
            server.freeze();
            CompletableFuture<Integer> answer = CompletableFuture.supplyAsync(() -> {
                try {
                    return number(connection, "SELECT 7");
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThatThrownBy(() -> answer.get(200, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);

            server.thaw();

            assertThat(answer.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isEqualTo(7);
        }
    }

    @Test
    void givenServerWithASetting_whenItRunsStatements_thenTheyAreInItsLog() throws Exception {
        try (PostgresServer server = PostgresServer.start("log_statement=all")) {
            run(server, "SELECT 'to be found'");

            assertThat(server.log()).anyMatch(line -> line.contains("SELECT 'to be found'"));
        }
    }

    @Test
    void givenDsnWithPasswordAndQuery_whenMadeAJdbcUrl_thenItSaysTheSame() {
        assertThat(PostgresServer.jdbcUrl("postgresql://me:secret@db:5433/x?ssl=true"))
                .isEqualTo("jdbc:postgresql://db:5433/x?ssl=true&user=me&password=secret");
        assertThat(PostgresServer.jdbcUrl("postgresql://db/x")).isEqualTo("jdbc:postgresql://db/x");
    }

    private static void run(PostgresServer server, String sql) throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static int number(PostgresServer server, String sql) throws SQLException {
        try (Connection connection = server.connect()) {
            return number(connection, sql);
        }
    }

    private static int number(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            result.next();
            return result.getInt(1);
        }
    }
}
