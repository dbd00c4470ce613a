package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.PostgresServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The store keeps out of the transactions of its callers, whatever the pool hands out. */
class CallersTransactionIT {

    private static final Duration LONG = Duration.ofMinutes(5);

    /** As the proxies of frameworks do: in a transaction, everybody in the thread gets the connection of it. */
    private static class Bound extends DelegatingSource {

        private static final ThreadLocal<@Nullable Connection> CURRENT = new ThreadLocal<>();

        Bound(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection bound = CURRENT.get();
            return bound == null ? super.getConnection() : unclosable(bound);
        }

        private static Connection unclosable(Connection bound) {
            return (Connection) Proxy.newProxyInstance(
                    Bound.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("close")) {
                            return null;
                        }
                        try {
                            return method.invoke(bound, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }
    }

    /** A class of this name is Spring's. */
    private static class TransactionAwareDataSourceProxy extends Bound {

        TransactionAwareDataSourceProxy(DataSource target) {
            super(target);
        }
    }

    private static final class OfTheApplication extends TransactionAwareDataSourceProxy {

        OfTheApplication(DataSource target) {
            super(target);
        }
    }

    /** C29: what the store did in the caller's transaction was committed with it, or rolled it back. */
    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB", "H2"})
    void givenATransactionBoundToTheThread_whenALockIsTakenInIt_thenItsRollbackUndoesItsWorkAndTheHoldStays(
            TransactionGuardIT.On database) throws Exception {
        String table = "work_" + UUID.randomUUID().toString().replace("-", "");
        try (HikariDataSource pool = pool(database.url(), true)) {
            execute(pool, "CREATE TABLE " + table + " (x int)");
            Bound bound = new Bound(pool);
            try (JdbcStore store = JdbcStore.builder(bound).build();
                    LockFactory locks = new LockFactory(store);
                    Connection transaction = pool.getConnection();
                    Statement statement = transaction.createStatement()) {
                transaction.setAutoCommit(false);
                Bound.CURRENT.set(transaction);
                statement.execute("INSERT INTO " + table + " VALUES (1)");

                Lock first = locks.createLock("first-" + table, LONG).acquire();
                statement.execute("INSERT INTO " + table + " VALUES (2)");
                Lock second = locks.createLock("second-" + table, LONG).acquire();
                assertThat(transaction.getAutoCommit()).isFalse();
                transaction.rollback();
                Bound.CURRENT.remove();

                assertThat(count(pool, table)).isZero();
                assertThat(first.isAcquired()).isTrue();
                assertThat(second.isAcquired()).isTrue();
                assertThat(second.release()).isTrue();
            }
        }
    }

    /** C29: as above, with a pool whose connections all begin in a transaction. */
    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB", "H2"})
    void givenAPoolWithoutAutocommit_whenALockIsTakenInATransaction_thenItsCommitIsTheCallers(
            TransactionGuardIT.On database) throws Exception {
        String table = "work_" + UUID.randomUUID().toString().replace("-", "");
        try (HikariDataSource pool = pool(database.url(), false);
                Connection plain = DriverManager.getConnection(database.url());
                Statement create = plain.createStatement()) {
            create.execute("CREATE TABLE " + table + " (x int)");
            Bound bound = new Bound(pool);
            try (JdbcStore store = JdbcStore.builder(bound).build();
                    LockFactory locks = new LockFactory(store);
                    Connection transaction = pool.getConnection();
                    Statement statement = transaction.createStatement()) {
                Bound.CURRENT.set(transaction);
                statement.execute("INSERT INTO " + table + " VALUES (1)");
                Lock lock = locks.createLock("kept-" + table, LONG).acquire();
                statement.execute("INSERT INTO " + table + " VALUES (2)");
                transaction.rollback();
                Bound.CURRENT.remove();

                assertThat(lock.isAcquired()).isTrue();
                try (ResultSet rows = create.executeQuery("SELECT count(*) FROM " + table)) {
                    rows.next();
                    assertThat(rows.getInt(1)).isZero();
                }
            }
        }
    }

    /** C29: known by the name of the class alone, it was not known by that of a subclass, or in a wrapper. */
    @Test
    void givenATransactionAwareSource_whenAStoreIsMade_thenItIsRefusedAlsoAsASubclassAndWrapped() {
        DataSource pool = new HikariDataSource();
        DataSource aware = new OfTheApplication(pool);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> new JdbcStore(aware))
                .withMessageContaining("give the store its target");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new JdbcStore(new DelegatingSource(new DelegatingSource(aware))))
                .withMessageContaining("TransactionAwareDataSourceProxy");
    }

    /** As a pool that tries each connection before it hands it out. */
    private static final class Tried extends DelegatingSource {

        private final String with;

        Tried(DataSource target, String with) {
            super(target);
            this.with = with;
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            try (Statement statement = connection.createStatement()) {
                statement.execute(with);
            }
            return connection;
        }
    }

    /** B32: what the pool runs in a connection had begun a transaction, in which isolation cannot be changed. */
    @ParameterizedTest
    @ValueSource(strings = {"SELECT 1", "SET application_name = 'app'"})
    void givenASerializablePoolWithoutAutocommitThatTriesItsConnections_whenUsed_thenAllCallsWork(String with)
            throws Exception {
        try (PostgresServer server = PostgresServer.start()) {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(server.jdbcUrl());
            config.setAutoCommit(false);
            config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
            try (HikariDataSource pool = new HikariDataSource(config);
                    JdbcStore store = new JdbcStore(new Tried(pool, with));
                    LockFactory locks = new LockFactory(store)) {
                for (int i = 0; i < 30; i++) {
                    Lock lock = locks.createLock("cycle-" + i).acquire();
                    assertThat(lock.release()).isTrue();
                    assertThat(store.delete(Key.of("other"))).isFalse();
                }
                try (Connection connection = pool.getConnection()) {
                    assertThat(connection.getAutoCommit()).isFalse();
                    assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
                }
            }
        }
    }

    private static HikariDataSource pool(String url, boolean autoCommit) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setAutoCommit(autoCommit);
        return new HikariDataSource(config);
    }

    private static void execute(DataSource pool, String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static int count(DataSource pool, String table) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM " + table)) {
            rows.next();
            return Objects.requireNonNull(rows).getInt(1);
        }
    }
}
