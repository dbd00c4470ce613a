package dev.latchkey.jdbc;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.Key;
import dev.latchkey.jdbc.Database.Repeat;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.TimeLimits;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows that were not used for the retention are deleted, no others, and no fencing token comes again by that. */
class PruningIT {

    private static final String LONG_AGO = "UPDATE pruned SET acquired_at = 0, expires_at = 0, fencing_token = 0";

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void givenOldRows_whenPruned_thenOnlyTheUnusedGoAndTokensGrow(String name) throws Exception {
        try (HikariDataSource pool = pool(name)) {
            Database database = new Database(
                    pool, new TableName(Optional.empty(), "pruned"), Schema.Owner.STORE, ReleaseCommit.ASYNCHRONOUS);
            Pruning lasting = new Pruning(Duration.ofHours(1));
            Pruning pruning = new Pruning(Duration.ofMillis(1));
            Key held = Key.of("held");
            Key read = Key.of("read");
            granted(save(database, exclusive(held)));
            granted(save(database, shared(read)));
            long oldToken = cycle(database, lasting, "old");
            assertThat(rows(pool)).containsExactly("held", "old", "read");

            while (rows(pool).contains("old")) {
                cycle(database, pruning, "pruner");
            }

            assertThat(rows(pool)).contains("held", "read");
            assertThat(find(database, held)).isPresent();
            assertThat(find(database, read)).isPresent();
            assertThat(cycle(database, lasting, "old")).isGreaterThan(oldToken);
            assertThat(delete(database, lasting, held)).isTrue();
            assertThat(delete(database, lasting, read)).isTrue();
        }
    }

    /** B16: on MySQL and MariaDB the statement met every row, also that of a guard, and waited for its transaction. */
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void givenATransactionHasARowLocked_whenPruned_thenItDoesNotWaitForIt(String name) throws Exception {
        try (HikariDataSource pool = pool(name)) {
            Database database = new Database(
                    pool, new TableName(Optional.empty(), "pruned"), Schema.Owner.STORE, ReleaseCommit.ASYNCHRONOUS);
            Pruning lasting = new Pruning(Duration.ofHours(1));
            Pruning pruning = new Pruning(Duration.ofMillis(1));
            for (int i = 0; i < 3; i++) {
                cycle(database, lasting, "old-" + i);
            }
            cycle(database, lasting, "locked");
            granted(save(database, exclusive(Key.of("held"))));
            try (Connection guard = pool.getConnection();
                    Statement statement = guard.createStatement()) {
                guard.setAutoCommit(false);
                statement.execute("UPDATE pruned SET version = version + 1 WHERE resource IN ('locked', 'held')");
                long start = System.nanoTime();

                while (!Set.of("locked", "held", "pruner").containsAll(rows(pool))) {
                    cycle(database, pruning, "pruner");
                }

                assertThat(Duration.ofNanos(System.nanoTime() - start))
                        .isLessThan(TimeLimits.scaled(Duration.ofSeconds(25)));
                guard.commit();
            }
            assertThat(rows(pool)).contains("held");
        }
    }

    /** By time alone, processes that live a second each had left a row each, and as good as never deleted one. */
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void givenManyProcessesReleaseOnceEach_whenTheyEnd_thenMoreGoesThanTheyLeave(String name) throws Exception {
        try (HikariDataSource pool = pool(name)) {
            Database database = new Database(
                    pool, new TableName(Optional.empty(), "pruned"), Schema.Owner.STORE, ReleaseCommit.ASYNCHRONOUS);
            for (int i = 0; i < 10; i++) {
                cycle(database, new Pruning(Duration.ofDays(1)), "old-" + i);
            }
            execute(pool, LONG_AGO);

            // One in twenty deletes: that none of so many does will not happen.
            for (int i = 0; i < 500 && rows(pool).size() > 1; i++) {
                cycle(database, new Pruning(Duration.ofDays(1)), "new");
            }

            assertThat(rows(pool)).containsExactly("new");
        }
    }

    /** A process that lives long deletes at random once among its first releases, and then once in a retention. */
    @Test
    void givenAProcessHasReleasedOften_whenItReleases_thenItDeletesNoMore() throws Exception {
        try (HikariDataSource pool = pool("h2")) {
            Database database = new Database(
                    pool, new TableName(Optional.empty(), "pruned"), Schema.Owner.STORE, ReleaseCommit.ASYNCHRONOUS);
            Pruning pruning = new Pruning(Duration.ofDays(1_000));
            for (int i = 0; i < 20; i++) {
                cycle(database, pruning, "old");
            }
            execute(pool, LONG_AGO);

            for (int i = 0; i < 100; i++) {
                cycle(database, pruning, "new");
            }

            assertThat(rows(pool)).containsExactly("new", "old");
        }
    }

    /** H2 keeps a time limit of a statement for the connection, and with it for whom the pool lends that to next. */
    @Test
    void givenAPoolOfOneOnH2_whenPruned_thenTheConnectionIsAsItWas() throws Exception {
        try (HikariDataSource pool = pool("h2")) {
            pool.setMaximumPoolSize(1);
            Database database = new Database(
                    pool, new TableName(Optional.empty(), "pruned"), Schema.Owner.STORE, ReleaseCommit.ASYNCHRONOUS);
            cycle(database, new Pruning(Duration.ofHours(1)), "old");
            Pruning pruning = new Pruning(Duration.ofMillis(1));

            while (rows(pool).contains("old")) {
                cycle(database, pruning, "pruner");
            }

            try (Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement()) {
                assertThat(statement.getQueryTimeout()).isZero();
            }
        }
    }

    /** B16: as many rows as one has left behind are deleted by and by, a few after each release. */
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void givenManyOldRows_whenPruned_thenAllGoInTheEnd(String name) throws Exception {
        try (HikariDataSource pool = pool(name)) {
            Database database = new Database(
                    pool, new TableName(Optional.empty(), "pruned"), Schema.Owner.STORE, ReleaseCommit.ASYNCHRONOUS);
            Pruning lasting = new Pruning(Duration.ofHours(1));
            for (int i = 0; i < 120; i++) {
                cycle(database, lasting, "old-" + i);
            }
            Pruning pruning = new Pruning(Duration.ofMillis(1));
            while (rows(pool).stream().anyMatch(row -> row.startsWith("old"))) {
                cycle(database, pruning, "pruner");
            }
            assertThat(rows(pool)).isSubsetOf("pruner");
        }
    }

    /** A row whose token is ahead of the clock, as after a clock was set back, stays: the next token would be smaller. */
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void givenATokenAheadOfTheClock_whenPruned_thenItsRowStaysAndTokensGrow(String name) throws Exception {
        try (HikariDataSource pool = pool(name)) {
            Database database = new Database(
                    pool, new TableName(Optional.empty(), "pruned"), Schema.Owner.STORE, ReleaseCommit.ASYNCHRONOUS);
            Pruning pruning = new Pruning(Duration.ofMillis(1));
            long token = cycle(database, new Pruning(Duration.ofHours(1)), "ahead");
            execute(pool, "UPDATE pruned SET fencing_token = fencing_token + 3600000000 WHERE resource = 'ahead'");
            cycle(database, pruning, "other");
            while (rows(pool).contains("other")) {
                cycle(database, pruning, "pruner");
            }

            assertThat(rows(pool)).contains("ahead");

            assertThat(cycle(database, pruning, "ahead")).isGreaterThan(token + 3_600_000_000L);
        }
    }

    /** Who has read a row, and was paused, must not write over another that stands in its place by then. */
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void givenARowWasRead_whenItIsPrunedAndARivalTakes_thenItIsNotTheSameRow(String name) throws Exception {
        try (HikariDataSource pool = pool(name)) {
            Database database = new Database(
                    pool, new TableName(Optional.empty(), "pruned"), Schema.Owner.STORE, ReleaseCommit.ASYNCHRONOUS);
            Response first = save(database, exclusive(Key.of("report")));
            Row read = database.call("report", Repeat.HARMLESS, HoldWork.look("report"));
            execute(pool, "DELETE FROM pruned");
            Key rival = Key.of("report");
            granted(save(database, exclusive(rival)));

            boolean written = database.call(
                    "report",
                    Repeat.NEVER,
                    (connection, statements) -> statements.write(connection, "report", Decision.write(first, read)));

            assertThat(written).isFalse();
            assertThat(find(database, rival)).isPresent();
        }
    }

    private static long cycle(Database database, Pruning pruning, String resource) {
        Key key = Key.of(resource);
        long token = granted(save(database, exclusive(key))).fencingToken().orElseThrow();
        assertThat(delete(database, pruning, key)).isTrue();
        return token;
    }

    private static Response save(Database database, Request request) {
        return database.call(request.key().resource(), Repeat.HARMLESS, HoldWork.save(request));
    }

    private static boolean delete(Database database, Pruning pruning, Key key) {
        return database.call(key.resource(), Repeat.NEVER, HoldWork.delete(key, pruning));
    }

    private static Optional<Response.Granted> find(Database database, Key key) {
        return database.call(key.resource(), Repeat.HARMLESS, HoldWork.find(key));
    }

    private static HikariDataSource pool(String name) throws SQLException {
        HikariDataSource pool = new HikariDataSource();
        switch (name) {
            case "postgresql" -> pool.setJdbcUrl(PostgresServer.jdbcUrl(PostgresServer.sharedDsn()));
            case "mariadb" -> {
                Dsn dsn = Dsn.parse(MariaDbServer.sharedDsn());
                pool.setJdbcUrl(dsn.url());
                dsn.user().ifPresent(pool::setUsername);
                dsn.password().ifPresent(pool::setPassword);
            }
            default -> pool.setJdbcUrl("jdbc:h2:mem:pruning;DB_CLOSE_DELAY=-1");
        }
        execute(pool, "DROP TABLE IF EXISTS pruned");
        return pool;
    }

    private static Set<String> rows(HikariDataSource pool) throws SQLException {
        Set<String> resources = new TreeSet<>();
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT resource FROM pruned")) {
            while (rows.next()) {
                resources.add(rows.getString(1));
            }
        }
        return resources;
    }

    private static void execute(HikariDataSource pool, String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
