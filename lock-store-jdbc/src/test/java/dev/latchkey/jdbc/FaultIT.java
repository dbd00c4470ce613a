package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.PostgresServer;
import dev.latchkey.testkit.RemoteLock;
import dev.latchkey.testkit.Reply;
import dev.latchkey.testkit.SecondProcess;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TimeZone;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What may go wrong with a PostgreSQL server, or on the way to it. */
@Timeout(180)
class FaultIT {

    private static final Duration LONG = Duration.ofMinutes(5);

    @Test
    void givenHolding_whenItsBackendsAreTerminated_thenTheLeaseIsKeptAndReleased() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                JdbcStore store = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock("kept", LONG).acquire();

            terminateBackends(server);

            Awaitility.await()
                    .ignoreExceptionsInstanceOf(LockStorageException.class)
                    .until(lock::isAcquired);
            assertThat(lock.release()).isTrue();
        }
    }

    @Test
    void givenWaiting_whenItsBackendsAreTerminated_thenItListensAgainAndHearsOfTheRelease() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                JdbcStore holding = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(holding);
                JdbcStore waitingStore = Stores.open(server.dsn());
                LockFactory others = new LockFactory(waitingStore)) {
            Lock holder = locks.createLock("waited", LONG).acquire();
            Task<Lock> waiting =
                    Task.start(() -> others.createLock("waited", LONG).acquire());
            Awaitility.await().until(() -> listeners(server) == 1);

            terminateBackends(server);

            Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> listeners(server) == 1);
            Awaitility.await()
                    .ignoreExceptionsInstanceOf(LockStorageException.class)
                    .until(holder::release);
            assertThat(waiting.result().isAcquired()).isTrue();
        }
    }

    @Test
    void givenHolds_whenTheServerIsKilledAndStarted_thenTheyAreKeptAndTokensGrow() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                JdbcStore store = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock("kept", LONG).acquire();
            long token = lock.fencingToken().orElseThrow();

            server.kill();
            assertThatThrownBy(() -> locks.createLock("other", LONG).tryAcquire())
                    .isInstanceOf(LockStorageException.class);
            server.restart();

            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .ignoreExceptionsInstanceOf(LockStorageException.class)
                    .until(lock::isAcquired);
            assertThat(locks.createLock("kept", LONG).tryAcquire()).isFalse();
            assertThat(lock.release()).isTrue();
            Lock next = locks.createLock("kept", LONG).acquire();
            assertThat(next.fencingToken().orElseThrow()).isGreaterThan(token);
        }
    }

    @Test
    void givenWaiting_whenTheServerIsKilledAndStarted_thenItWaitsOnOrFailsAndNothingIsHeldTwice() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                JdbcStore store = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store)) {
            Lock holder = locks.createLock("waited", LONG).acquire();
            Task<Lock> waiting =
                    Task.start(() -> locks.createLock("waited", LONG).acquire());
            Awaitility.await().until(() -> listeners(server) == 1);

            server.kill();
            server.restart();

            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .ignoreExceptionsInstanceOf(LockStorageException.class)
                    .until(holder::isAcquired);
            assertThat(holder.release()).isTrue();
            Lock next = winner(waiting, locks);
            assertThat(next.isAcquired()).isTrue();
            assertThat(locks.createLock("waited", LONG).tryAcquire()).isFalse();
        }
    }

    /** A waiter that asked while the server was away has failed with an exception that says so. */
    private static Lock winner(Task<Lock> waiting, LockFactory locks) throws Exception {
        try {
            return waiting.result();
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(LockStorageException.class);
            return locks.createLock("waited", LONG).acquire();
        }
    }

    @Test
    void givenTheReplyToAnAcquireIsLost_whenTheConnectionIsCut_thenItIsAskedAgainAndHeldOnce() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                FaultProxy proxy = FaultProxy.to(server.address());
                JdbcStore store = Stores.open(PostgresServer.dsn(proxy.address()));
                LockFactory locks = new LockFactory(store)) {
            locks.createLock("warm-up").acquire().release();
            CompletableFuture<Void> lost = proxy.loseReplyTo("lost-reply");
            Lock lock = locks.createLock("lost-reply", LONG);

            assertThat(lock.tryAcquire()).isTrue();

            assertThat(lost).isDone();
            assertThat(lock.isAcquired()).isTrue();
            assertThat(locks.createLock("lost-reply", LONG).tryAcquire()).isFalse();
            assertThat(lock.release()).isTrue();
            assertThat(locks.createLock("lost-reply", LONG).tryAcquire()).isTrue();
        }
    }

    @Test
    void givenThePoolIsExhausted_whenAcquired_thenFailureThatSaysWhatHelps() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                HikariDataSource pool = pool(server, 1);
                LockFactory locks = new LockFactory(new JdbcStore(pool))) {
            locks.createLock("warm-up").acquire().release();
            try (Connection transaction = pool.getConnection()) {
                transaction.setAutoCommit(false);

                assertThatThrownBy(() -> locks.createLock("second connection").tryAcquire())
                        .isInstanceOf(LockStorageException.class)
                        .hasMessageContaining("pool of its own");
            }
            assertThat(locks.createLock("second connection").tryAcquire()).isTrue();
        }
    }

    @Test
    void givenPoolWithoutAutocommitReadOnlyAndSerializable_whenUsed_thenItWorksAndConnectionsComeBackAsTheyWere()
            throws Exception {
        try (PostgresServer server = PostgresServer.start();
                HikariDataSource pool = oddPool(server);
                LockFactory locks = new LockFactory(new JdbcStore(pool))) {
            Lock lock = locks.createLock("odd", LONG).acquire();
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getAutoCommit()).isFalse();
                assertThat(connection.isReadOnly()).isTrue();
                assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
            }

            assertThat(count(server, "SELECT count(*) FROM latchkey_lock WHERE expires_at > 0"))
                    .isEqualTo(1);
            assertThat(lock.release()).isTrue();
            assertThat(server.log()).noneMatch(line -> line.contains("ERROR:"));
        }
    }

    @Test
    void givenATransactionOfTheSamePool_whenItIsRolledBack_thenTheLockTakenInItIsHeldStill() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                HikariDataSource pool = pool(server, 2);
                LockFactory locks = new LockFactory(new JdbcStore(pool));
                Connection transaction = pool.getConnection();
                Statement statement = transaction.createStatement()) {
            transaction.setAutoCommit(false);
            statement.execute("CREATE TABLE mine (x int)");
            Lock lock = locks.createLock("apart", LONG).acquire();

            transaction.rollback();

            assertThat(lock.isAcquired()).isTrue();
            assertThat(count(server, "SELECT count(*) FROM pg_class WHERE relname = 'mine'"))
                    .isZero();
        }
    }

    @Test
    void givenHeld_whenTheTableIsDropped_thenTheNextUseCreatesItAndTheHolderLearns() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                JdbcStore store = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock("dropped", LONG).acquire();
            long token = lock.fencingToken().orElseThrow();
            execute(server, "DROP TABLE latchkey_lock");

            assertThat(lock.isAcquired()).isFalse();

            Lock next = locks.createLock("dropped", LONG).acquire();
            assertThat(next.fencingToken().orElseThrow()).isGreaterThan(token);
        }
    }

    @Test
    void givenNoTable_whenManyProcessesBeginAtOnce_thenAllWorkAndTheLogHasNoErrorLine() throws Exception {
        try (PostgresServer server = PostgresServer.start()) {
            List<SecondProcess> processes = SecondProcess.connect(server.dsn(), 32);
            try {
                List<Reply> replies = new ArrayList<>();
                for (SecondProcess process : processes) {
                    RemoteLock lock = process.lock("created", LONG);
                    replies.add(lock.startAcquire(Duration.ZERO));
                }

                assertThat(replies.stream().filter(Reply::isYes)).hasSize(1);
            } finally {
                processes.forEach(SecondProcess::close);
            }
            // The harness asks until the server is up, and is told that it is not.
            assertThat(server.log())
                    .filteredOn(line -> !line.contains("is starting up"))
                    .noneMatch(line -> line.matches(".*(ERROR|FATAL|PANIC):.*"));
        }
    }

    @Test
    void givenSessionsOfDifferentZones_whenDaylightSavingEndsInOneOfThem_thenTheLeaseIsTheSame() throws Exception {
        TimeZone before = TimeZone.getDefault();
        try (PostgresServer server = PostgresServer.start()) {
            TimeZone.setDefault(TimeZone.getTimeZone("America/New_York"));
            try (JdbcStore west = Stores.open(server.dsn());
                    LockFactory locks = new LockFactory(west)) {
                locks.createLock("zones", LONG).acquire();
                TimeZone.setDefault(TimeZone.getTimeZone("Asia/Kolkata"));
                try (JdbcStore east = Stores.open(server.dsn());
                        LockFactory others = new LockFactory(east)) {
                    assertThat(others.createLock("zones", LONG).tryAcquire()).isFalse();
                    assertThat(others.holders("zones").get(0).remaining().orElseThrow())
                            .isBetween(LONG.minusSeconds(30), LONG);
                }
            }
        } finally {
            TimeZone.setDefault(before);
        }
    }

    private static HikariDataSource pool(PostgresServer server, int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(server.jdbcUrl());
        config.setMaximumPoolSize(size);
        config.setConnectionTimeout(500);
        return new HikariDataSource(config);
    }

    private static HikariDataSource oddPool(PostgresServer server) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(server.jdbcUrl());
        config.setAutoCommit(false);
        config.setReadOnly(true);
        config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
        return new HikariDataSource(config);
    }

    private static void terminateBackends(PostgresServer server) throws SQLException {
        execute(
                server,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        + " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'");
    }

    private static long listeners(PostgresServer server) throws SQLException {
        return count(server, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
    }

    private static void execute(PostgresServer server, String sql) throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static long count(PostgresServer server, String sql) throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }
}
