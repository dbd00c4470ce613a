package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.RemoteLock;
import dev.latchkey.testkit.Reply;
import dev.latchkey.testkit.SecondProcess;
import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TimeZone;
import java.util.concurrent.ExecutionException;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What may go wrong with a PostgreSQL server, or on the way to it. */
class PostgreSqlFaultIT implements DatabaseFaults {

    /** A server whose locks can be disturbed. */
    private record OnPostgreSql(PostgresServer server) implements FaultyDatabase {

        @Override
        public String dsn(ServerAddress address) {
            return PostgresServer.dsn(address);
        }

        @Override
        public Connection connect() throws SQLException {
            return server.connect();
        }

        @Override
        public int endSessions() throws SQLException {
            return (int) count("SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity"
                    + " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'");
        }

        @Override
        public void failNextUpdates(int count) throws SQLException {
            execute(
                    "CREATE SEQUENCE updates",
                    "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                            + " IF nextval('updates') <= " + count
                            + " THEN RAISE EXCEPTION 'planted' USING ERRCODE = '40001'; END IF; RETURN NEW; END $$",
                    "CREATE TRIGGER fail BEFORE UPDATE ON latchkey_lock FOR EACH ROW EXECUTE FUNCTION fail()");
        }

        @Override
        public long updates() throws SQLException {
            return count("SELECT last_value FROM updates");
        }

        @Override
        public void spareInDeadlocks(Statement transaction) throws SQLException {
            transaction.execute("SET LOCAL deadlock_timeout = '60s'");
        }

        @Override
        public String impatientDsn() {
            return dsn() + "?socketTimeout="
                    + TimeLimits.ttl(Duration.ofSeconds(4)).toSeconds();
        }

        @Override
        public long running(String beginning) throws SQLException {
            return count(
                    "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '" + beginning + "%'");
        }
    }

    @Override
    public FaultyDatabase start() {
        // Each looks for a deadlock once, so long after it began to wait: by then the other has to wait too. But the
        // store gives up after 10 s.
        return new OnPostgreSql(PostgresServer.start("deadlock_timeout=5s"));
    }

    @Test
    void givenWaiting_whenItsBackendsAreTerminated_thenItListensAgainAndHearsOfTheRelease() throws Exception {
        try (FaultyDatabase database = start();
                JdbcStore holding = Stores.open(database.dsn());
                LockFactory locks = new LockFactory(holding);
                JdbcStore waitingStore = Stores.open(database.dsn());
                LockFactory others = new LockFactory(waitingStore)) {
            Lock holder = locks.createLock("waited", LONG).acquire();
            Task<Lock> waiting =
                    Task.start(() -> others.createLock("waited", LONG).acquire());
            Awaitility.await().until(() -> isListenedTo(database));

            database.endSessions();

            Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> isListenedTo(database));
            // A release is sent once, so not on a connection that was ended.
            assertThat(holder.isAcquired()).isTrue();
            assertThat(holder.release()).isTrue();
            assertThat(waiting.result().isAcquired()).isTrue();
        }
    }

    @Test
    void givenWaiting_whenTheServerIsKilledAndStarted_thenItWaitsOnOrFailsAndNothingIsHeldTwice() throws Exception {
        try (FaultyDatabase database = start();
                JdbcStore store = Stores.open(database.dsn());
                LockFactory locks = new LockFactory(store)) {
            Lock holder = locks.createLock("waited", LONG).acquire();
            Task<Lock> waiting =
                    Task.start(() -> locks.createLock("waited", LONG).acquire());
            Awaitility.await().until(() -> isListenedTo(database));

            database.kill();
            database.restart();

            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
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
    void givenPoolWithoutAutocommitReadOnlyAndSerializable_whenUsed_thenItWorksAndConnectionsComeBackAsTheyWere()
            throws Exception {
        try (PostgresServer server = PostgresServer.start();
                FaultyDatabase database = new OnPostgreSql(server);
                HikariDataSource pool = oddPool(server);
                LockFactory locks = new LockFactory(new JdbcStore(pool))) {
            Lock lock = locks.createLock("odd", LONG).acquire();
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getAutoCommit()).isFalse();
                assertThat(connection.isReadOnly()).isTrue();
                assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
            }

            assertThat(database.count("SELECT count(*) FROM latchkey_lock WHERE expires_at > 0"))
                    .isEqualTo(1);
            assertThat(lock.release()).isTrue();
            assertThat(server.log()).noneMatch(line -> line.contains("ERROR:"));
        }
    }

    /** The store asked the driver's connection who it is, and failed where it is hidden. */
    @Test
    void givenASerializablePoolThatHidesTheDriver_whenUsed_thenItWorksAndIsolationStays() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                HikariDataSource pool = oddPool(server);
                LockFactory locks = new LockFactory(new JdbcStore(new Hiding(pool)))) {
            Lock lock = locks.createLock("hidden", LONG).acquire();

            assertThat(locks.createLock("hidden", LONG).tryAcquire()).isFalse();
            assertThat(lock.release()).isTrue();
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
            }
        }
    }

    /** As an application server or a tracing proxy may wrap connections. */
    private static final class Hiding extends DelegatingSource {

        Hiding(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            return (Connection) Proxy.newProxyInstance(
                    Hiding.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, values) -> {
                        if (method.getName().equals("isWrapperFor")) {
                            return false;
                        }
                        if (method.getName().equals("unwrap")) {
                            throw new SQLException("hidden");
                        }
                        try {
                            return method.invoke(connection, values);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }
    }

    @Test
    void givenNoTable_whenManyProcessesBeginAtOnce_thenAllWorkAndTheLogHasNoErrorLine() throws Exception {
        try (PostgresServer server = PostgresServer.start()) {
            List<SecondProcess> processes = SecondProcess.connect(
                    server.dsn() + "?loginTimeout=" + LIMIT.toSeconds() + "&connectTimeout=" + LIMIT.toSeconds(), 32);
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

    private static HikariDataSource oddPool(PostgresServer server) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(server.jdbcUrl());
        config.setAutoCommit(false);
        config.setReadOnly(true);
        config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
        return new HikariDataSource(config);
    }

    /**
     * After some silence, the last statement is an empty one; a backend that has just started has had none. Not before the waiter
     * has asked: its pool tries its first connection, by an empty statement too.
     */
    private static boolean isListenedTo(FaultyDatabase database) throws SQLException {
        return database.count("SELECT count(*) FROM latchkey_lock WHERE resource = 'waited' AND waited = 1") == 1
                && database.count("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
                                + " OR query = '' AND query_start IS NOT NULL AND backend_type = 'client backend'")
                        > 0;
    }
}
