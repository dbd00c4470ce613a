package dev.latchkey.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGConnectionPoolDataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Where connections come from, and what is told when there is none. */
class SourcesIT {

    private static PostgresServer server;

    @BeforeAll
    static void start() throws Exception {
        server = PostgresServer.start();
        Raw.run(server, "CREATE ROLE known LOGIN PASSWORD 'right'");
        Path rules = Path.of(Raw.ask(server, "SHOW hba_file"));
        Files.writeString(rules, "host all known all scram-sha-256\n" + Files.readString(rules));
        Raw.run(server, "SELECT pg_reload_conf()");
        Awaitility.await()
                .ignoreExceptions()
                .until(() -> Raw.ask(
                                server,
                                "SELECT count(*) FROM pg_hba_file_rules WHERE 'known' = ANY (user_name) AND error IS NULL")
                        .equals("1"));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static PGSimpleDataSource source() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(server.jdbcUrl());
        return source;
    }

    /** B13: what a pool lends is given back as it was. */
    @Test
    void givenAPool_whenAcquired_thenRefusedAndItsConnectionIsAsItWas() throws Exception {
        PGConnectionPoolDataSource physical = new PGConnectionPoolDataSource();
        physical.setUrl(server.jdbcUrl());
        var pooled = physical.getPooledConnection();
        try (PostgresAdvisoryStore store = new PostgresAdvisoryStore(new Plain(pooled::getConnection))) {
            Lock lock = new LockFactory(store).createLock("report");

            assertThatThrownBy(lock::tryAcquire)
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            refused -> assertThat(refused.failure()).isEqualTo(Failure.NOT_SENT))
                    .hasMessageContaining("pool")
                    .hasMessageContaining("PGSimpleDataSource");

            try (Connection connection = pooled.getConnection()) {
                assertThat(Raw.ask(connection, "SHOW search_path")).contains("public");
                assertThat(connection.getNetworkTimeout()).isZero();
            }
        } finally {
            pooled.close();
        }
    }

    /** Else what one waits for would end what the other holds. */
    @Test
    void givenASourceThatGivesTheSameConnectionAgain_whenOneWaits_thenRefusedAndTheOtherHoldsStill() throws Exception {
        try (Connection only = source().getConnection();
                PostgresAdvisoryStore store = new PostgresAdvisoryStore(new Plain(() -> only));
                LockFactory locks = new LockFactory(store);
                PostgresAdvisoryStore others = new PostgresAdvisoryStore(source());
                LockFactory rivals = new LockFactory(others)) {
            Lock holder = locks.createLock("held");
            assertThat(holder.tryAcquire()).isTrue();
            assertThat(rivals.createLock("busy").tryAcquire()).isTrue();

            assertThatThrownBy(() -> locks.createLock("busy").acquire(TimeLimits.LIMIT))
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("the same connection");

            assertThat(holder.isAcquired()).isTrue();
            assertThat(rivals.createLock("held").tryAcquire()).isFalse();
        }
    }

    /** B29. */
    @Test
    void givenASourceThatThrowsUnchecked_whenOneWaits_thenAFailureAndTheNextGetsIn() throws Exception {
        AtomicInteger connections = new AtomicInteger();
        PGSimpleDataSource source = source();
        DataSource moody = new Plain(() -> {
            if (connections.incrementAndGet() == 2) {
                throw new IllegalStateException("not today");
            }
            return source.getConnection();
        });
        try (PostgresAdvisoryStore store = new PostgresAdvisoryStore(moody);
                LockFactory locks = new LockFactory(store)) {
            Lock holder = locks.createLock("report");
            assertThat(holder.tryAcquire()).isTrue();

            BackgroundCall<Lock> waiting = BackgroundCall.start(locks.createLock("report")::acquire);

            assertThatThrownBy(waiting::result)
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("not today");
            BackgroundCall<Lock> next = BackgroundCall.start(locks.createLock("report")::acquire);
            Awaitility.await().until(() -> Raw.waiting(server) == 1);
            assertThat(holder.release()).isTrue();
            assertThat(next.result().release()).isTrue();
        }
    }

    /** B29: also what no method declares. */
    @Test
    void givenASourceThatThrowsAnError_whenOneWaits_thenAFailure() {
        AtomicInteger connections = new AtomicInteger();
        PGSimpleDataSource source = source();
        DataSource broken = new Plain(() -> {
            if (connections.incrementAndGet() > 1) {
                throw new NoClassDefFoundError("gone");
            }
            return source.getConnection();
        });
        try (PostgresAdvisoryStore store = new PostgresAdvisoryStore(broken);
                LockFactory locks = new LockFactory(store)) {
            assertThat(locks.createLock("report").tryAcquire()).isTrue();

            BackgroundCall<Lock> waiting = BackgroundCall.start(locks.createLock("report")::acquire);

            assertThatThrownBy(waiting::result).isInstanceOf(LockStorageException.class);
        }
    }

    /** B30: no token is worth waiting for a standby. */
    @Test
    void givenTheSynchronousStandbyIsAway_whenAcquired_thenGrantedAndTheOthersAreHeld() {
        try (PostgresServer lonely = PostgresServer.start("synchronous_standby_names=nobody", "synchronous_commit=on");
                PostgresAdvisoryStore store = Stores.open(lonely);
                LockFactory locks = new LockFactory(store)) {
            Lock shared = locks.createLock("shared");
            assertThat(shared.tryAcquireShared()).isTrue();
            Lock lock = locks.createLock("report");

            assertThat(lock.tryAcquire()).isTrue();

            assertThat(lock.fencingToken()).isPresent();
            assertThat(shared.isAcquired()).isTrue();
        }
    }

    /** C25. */
    @ParameterizedTest
    @ValueSource(strings = {"known:wrong@{}/postgres", "known:right@{}/missing", "nobody-such@{}/postgres"})
    void givenWrongCredentialsOrNoSuchDatabase_whenAcquired_thenDeniedInTheServersWords(String dsn) {
        try (PostgresAdvisoryStore store =
                Stores.open("postgresql://" + dsn.replace("{}", server.address().toString()))) {
            assertThatThrownBy(() -> new LockFactory(store).createLock("report").tryAcquire())
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            denied -> assertThat(denied.failure()).isEqualTo(Failure.DENIED))
                    .hasMessageContaining("FATAL")
                    .hasMessageNotContaining("wrong");
        }
    }

    /** C25. */
    @Test
    void givenNobodyListens_whenAcquired_thenNothingWasSent() {
        try (PostgresAdvisoryStore store = Stores.open(ServerAddress.unused())) {
            assertThatThrownBy(() -> new LockFactory(store).createLock("report").tryAcquire())
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            refused -> assertThat(refused.failure()).isEqualTo(Failure.NOT_SENT));
        }
    }

    /** B21. */
    @Test
    void givenTheThreadIsInterrupted_whenTheStoreIsClosed_thenReleasedAndTheFlagIsKept() throws Exception {
        PostgresAdvisoryStore store = new PostgresAdvisoryStore(source());
        LockFactory locks = new LockFactory(store);
        try (PostgresAdvisoryStore other = Stores.open(server)) {
            LockFactory others = new LockFactory(other);
            assertThat(locks.createLock("mine").tryAcquire()).isTrue();
            assertThat(others.createLock("theirs").tryAcquire()).isTrue();
            BackgroundCall<Lock> waiting = BackgroundCall.start(locks.createLock("theirs")::acquire);
            Awaitility.await().until(() -> Raw.waiting(server) == 1);

            Thread.currentThread().interrupt();
            store.close();

            assertThat(Thread.interrupted()).isTrue();
            assertThatThrownBy(waiting::result).isInstanceOf(LockStorageException.class);
            assertThat(others.createLock("mine").tryAcquire()).isTrue();
        }
    }

    /** Connections as a test makes them. */
    private record Plain(Source source) implements DataSource {

        interface Source {
            Connection get() throws SQLException;
        }

        @Override
        public Connection getConnection() throws SQLException {
            return source.get();
        }

        @Override
        public Connection getConnection(String user, String password) throws SQLException {
            return source.get();
        }

        @Override
        public @Nullable PrintWriter getLogWriter() {
            return null;
        }

        @Override
        public void setLogWriter(PrintWriter out) {}

        @Override
        public void setLoginTimeout(int seconds) {}

        @Override
        public int getLoginTimeout() {
            return 0;
        }

        @Override
        public Logger getParentLogger() throws SQLFeatureNotSupportedException {
            throw new SQLFeatureNotSupportedException();
        }

        @Override
        public <T> T unwrap(Class<T> type) throws SQLException {
            throw new SQLException("wraps nothing");
        }

        @Override
        public boolean isWrapperFor(Class<?> type) {
            return false;
        }
    }
}
