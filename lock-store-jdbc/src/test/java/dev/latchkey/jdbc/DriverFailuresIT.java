package dev.latchkey.jdbc;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.StateIndex;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.SocketFactory;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;

/** Drivers and pools that fail otherwise than by an SQLException. */
class DriverFailuresIT {

    /** Makes sockets in whose next read the driver finds the error that was planted. */
    public static final class FailingSockets extends SocketFactory {

        private static final AtomicReference<@Nullable Error> PLANTED = new AtomicReference<>();

        @Override
        public Socket createSocket() {
            return new Socket() {
                @Override
                public InputStream getInputStream() throws IOException {
                    return new FilterInputStream(super.getInputStream()) {
                        @Override
                        public int read(byte[] bytes, int offset, int length) throws IOException {
                            Error planted = PLANTED.getAndSet(null);
                            if (planted != null) {
                                throw planted;
                            }
                            return super.read(bytes, offset, length);
                        }
                    };
                }
            };
        }

        @Override
        public Socket createSocket(String host, int port) throws IOException {
            return createSocket(InetAddress.getByName(host), port);
        }

        @Override
        public Socket createSocket(String host, int port, InetAddress from, int fromPort) throws IOException {
            return createSocket(host, port);
        }

        @Override
        public Socket createSocket(InetAddress host, int port) throws IOException {
            Socket socket = createSocket();
            socket.connect(new InetSocketAddress(host, port));
            return socket;
        }

        @Override
        public Socket createSocket(InetAddress host, int port, InetAddress from, int fromPort) throws IOException {
            return createSocket(host, port);
        }
    }

    /** The next statement on that connection read the answer to the one that had failed, and a lost hold was renewed. */
    @Test
    void givenAnErrorInTheDriver_whenALostHoldIsRenewed_thenItIsLost() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                HikariDataSource pool = new HikariDataSource();
                JdbcStore rivals = Stores.open(server.dsn())) {
            pool.setJdbcUrl(server.jdbcUrl() + "&socketFactory=" + FailingSockets.class.getName());
            pool.setMaximumPoolSize(1);
            AtomicReference<@Nullable Error> next = new AtomicReference<>();
            JdbcStore store = new JdbcStore(new DelegatingSource(pool) {
                @Override
                public Connection getConnection() throws SQLException {
                    // Not before: the pool reads too, when it tries a connection.
                    Connection connection = super.getConnection();
                    FailingSockets.PLANTED.set(next.getAndSet(null));
                    return connection;
                }
            });
            Key kept = Key.of("kept");
            kept = holding(kept, store.save(exclusive(kept)));
            Key lost = Key.of("lost");
            lost = holding(lost, store.save(exclusive(lost)));
            assertThat(rivals.delete(lost)).isTrue();
            granted(rivals.save(exclusive(Key.of("lost"))));
            Key renewed = kept;
            next.set(new StackOverflowError("planted"));

            assertThatThrownBy(() -> store.refresh(exclusive(renewed))).isInstanceOf(StackOverflowError.class);

            assertThat(store.refresh(exclusive(lost))).isInstanceOf(Response.Lost.class);
            assertThat(store.refresh(exclusive(kept))).isInstanceOf(Response.Granted.class);
        }
    }

    /** The pool lent the connection to the next one, who read an answer that was meant for us. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void givenAnErrorAtFirstUse_whenTheNextOneGetsTheConnection_thenItReadsItsOwnAnswers(int nth) throws Exception {
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setJdbcUrl(PostgresServer.jdbcUrl(PostgresServer.sharedDsn()) + "&socketFactory="
                    + FailingSockets.class.getName());
            pool.setMaximumPoolSize(1);
            AtomicInteger taken = new AtomicInteger();
            JdbcStore store = new JdbcStore(new DelegatingSource(pool) {
                @Override
                public Connection getConnection() throws SQLException {
                    Connection connection = super.getConnection();
                    if (taken.incrementAndGet() == nth) {
                        FailingSockets.PLANTED.set(new StackOverflowError("planted"));
                    }
                    return connection;
                }
            });
            Key asked = Key.of("first-use-" + nth);

            assertThatThrownBy(() -> store.save(exclusive(asked))).isInstanceOf(StackOverflowError.class);

            try (Connection next = pool.getConnection();
                    Statement statement = next.createStatement();
                    ResultSet row = statement.executeQuery("SELECT 'mine'")) {
                assertThat(row.next()).isTrue();
                assertThat(row.getString(1)).isEqualTo("mine");
            }
            granted(store.save(exclusive(asked)));
        }
    }

    /** What the driver said of the closed statement, when the limit was taken away, hid that the connection was broken. */
    @Test
    void givenTheServerHasEndedTheConnection_whenRenewedAmongOthers_thenOnAnother() throws Exception {
        String url = Dsn.parse(MariaDbServer.sharedDsn()
                        .replaceFirst("^mariadb:", "mysql:")
                        .replaceFirst("sslMode=disable", "sslMode=DISABLED"))
                .url();
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setJdbcUrl(url);
            pool.setUsername("root");
            pool.setMaximumPoolSize(1);
            AtomicBoolean ends = new AtomicBoolean();
            JdbcStore store = new JdbcStore(new DelegatingSource(pool) {
                @Override
                public Connection getConnection() throws SQLException {
                    Connection connection = super.getConnection();
                    if (ends.getAndSet(false)) {
                        end(url, connection);
                    }
                    return connection;
                }
            });
            Key key = Key.of("ended");
            Key held = holding(key, store.save(exclusive(key)));

            // A renewal among others has a second, which a busy server may let pass.
            List<RefreshResult> outcomes = Awaitility.await()
                    .until(
                            () -> {
                                ends.set(true);
                                return store.refreshAll(List.of(exclusive(held)), Duration.ofSeconds(3));
                            },
                            renewed -> renewed.stream().noneMatch(DriverFailuresIT::hasTimedOut));

            assertThat(outcomes).singleElement().isInstanceOf(RefreshResult.Answered.class);
        }
    }

    private static boolean hasTimedOut(RefreshResult outcome) {
        return outcome instanceof RefreshResult.Failed failed
                && failed.failure().getCause() instanceof SQLException failure
                && failure.getCause() instanceof SQLTimeoutException;
    }

    /** What could not be rolled back on it hid that the connection was broken. */
    @Test
    void givenTheServerHasEndedTheConnection_whenIndexesAreRaised_thenOnAnother() {
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setJdbcUrl(PostgresServer.jdbcUrl(PostgresServer.sharedDsn()));
            pool.setMaximumPoolSize(1);
            AtomicBoolean ends = new AtomicBoolean();
            JdbcStore store = new JdbcStore(new DelegatingSource(pool) {
                @Override
                public Connection getConnection() throws SQLException {
                    Connection connection = super.getConnection();
                    if (ends.getAndSet(false)) {
                        end(connection);
                    }
                    return connection;
                }
            });
            store.raise(Map.of("ended", new StateIndex(1, 1)));
            ends.set(true);

            store.raise(Map.of("ended", new StateIndex(2, 2)));

            assertThat(store.indexes(List.of("ended"))).containsEntry("ended", new StateIndex(2, 2));
        }
    }

    private static void end(Connection connection) throws SQLException {
        int process = connection.unwrap(PGConnection.class).getBackendPID();
        try (Connection administrator = Objects.requireNonNull(
                        DriverManager.getConnection(PostgresServer.jdbcUrl(PostgresServer.sharedDsn())));
                Statement kill = administrator.createStatement()) {
            kill.execute("SELECT pg_terminate_backend(" + process + ", 5000)");
        }
    }

    private static void end(String url, Connection connection) throws SQLException {
        try (Statement own = connection.createStatement();
                ResultSet id = own.executeQuery("SELECT connection_id()");
                Connection administrator = Objects.requireNonNull(DriverManager.getConnection(url, "root", ""));
                Statement kill = administrator.createStatement()) {
            assertThat(id.next()).isTrue();
            kill.execute("KILL " + id.getLong(1));
        }
    }

    /** Not every pool keeps the flag of a thread that is interrupted while it waits for a connection. */
    @Test
    void givenAPoolThatForgetsAnInterrupt_whenAsked_thenTheFlagIsKept() throws Exception {
        try (HikariDataSource pool = h2()) {
            AtomicInteger interrupts = new AtomicInteger(1);
            JdbcStore store = new JdbcStore(new DelegatingSource(pool) {
                @Override
                public Connection getConnection() throws SQLException {
                    if (interrupts.getAndDecrement() > 0) {
                        throw new SQLException("interrupted", new InterruptedException());
                    }
                    return super.getConnection();
                }
            });

            Task<Boolean> asked = Task.start(() -> {
                granted(store.save(exclusive(Key.of("asked"))));
                return Thread.currentThread().isInterrupted();
            });

            assertThat(asked.result()).isTrue();
        }
    }

    /** As one does that is being closed. */
    @Test
    void givenAPoolThatIsInterruptedEachTime_whenAsked_thenAFailure() {
        JdbcStore store = new JdbcStore(new DelegatingSource(new HikariDataSource()) {
            @Override
            public Connection getConnection() throws SQLException {
                throw new SQLException("interrupted", new InterruptedException());
            }
        });

        Task<Response> asked = Task.start(() -> store.save(exclusive(Key.of("asked"))));

        assertThatThrownBy(asked::result).hasCauseInstanceOf(LockStorageException.class);
    }

    @Test
    void givenAConnectionThatThrowsUnchecked_whenAskedAgain_thenThePoolHasOneToGive() throws Exception {
        try (HikariDataSource pool = h2()) {
            pool.setMaximumPoolSize(1);
            pool.setConnectionTimeout(5_000);
            AtomicInteger failures = new AtomicInteger(0);
            JdbcStore store = new JdbcStore(new DelegatingSource(pool) {
                @Override
                public Connection getConnection() throws SQLException {
                    return failing(super.getConnection(), failures);
                }
            });
            granted(store.save(exclusive(Key.of("before"))));
            for (int failing = 1; failing <= 3; failing++) {
                failures.set(failing);
                Key key = Key.of("failing-" + failing);
                assertThatThrownBy(() -> store.save(exclusive(key)))
                        .isInstanceOf(RuntimeException.class)
                        .hasMessageContaining("planted");
            }

            granted(store.save(exclusive(Key.of("after"))));
        }
    }

    /** What it throws says nothing about what was done: of an argument that was refused it was taken for nothing. */
    @Test
    void givenAConnectionThatRefusesAnArgumentAfterAnAcquire_whenAnotherAsks_thenItWasGivenBack() {
        try (HikariDataSource pool = h2()) {
            AtomicBoolean fails = new AtomicBoolean();
            JdbcStore store = new JdbcStore(new DelegatingSource(pool) {
                @Override
                public Connection getConnection() throws SQLException {
                    return refusing(super.getConnection(), fails);
                }
            });
            LockFactory factory = new LockFactory(store);
            Lock unanswered = factory.createLock("refused", Duration.ofMinutes(10));
            assertThat(store.holders("refused")).isEmpty();
            fails.set(true);

            assertThatThrownBy(unanswered::tryAcquire)
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("planted");

            assertThat(factory.createLock("refused", Duration.ofMinutes(10)).tryAcquire())
                    .isTrue();
        }
    }

    /** The release was done, and repeated: the second one found nothing, and the caller was told that the lock had been lost. */
    @Test
    void givenTheOutcomeOfAStatementIsUnknown_whenReleased_thenAFailureAndNotARepetition() {
        try (HikariDataSource pool = h2()) {
            AtomicInteger unknown = new AtomicInteger();
            JdbcStore store = new JdbcStore(new DelegatingSource(pool) {
                @Override
                public Connection getConnection() throws SQLException {
                    return withUnknownOutcome(super.getConnection(), unknown);
                }
            });
            Key held = Key.of("outcome-unknown");
            granted(store.save(exclusive(held)));
            unknown.set(1);

            assertThatThrownBy(() -> store.delete(held))
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            e -> assertThat(e.failure()).isEqualTo(LockStorageException.Failure.IN_DOUBT));

            assertThat(unknown).hasValue(0);
            assertThat(store.delete(held)).isFalse();
        }
    }

    /** Executes the next updates, and does not know then whether they were. */
    private static Connection withUnknownOutcome(Connection connection, AtomicInteger updates) {
        return proxy(
                Connection.class,
                connection,
                (method, answer) -> answer instanceof PreparedStatement statement
                        ? proxy(PreparedStatement.class, statement, (called, result) -> {
                            if (called.equals("execute") && updates.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                                throw new SQLException("planted", "40003");
                            }
                            return result;
                        })
                        : answer);
    }

    private interface Answer {
        @Nullable Object of(String method, @Nullable Object answer) throws SQLException;
    }

    private static <T> T proxy(Class<T> kind, T target, Answer answers) {
        return kind.cast(Proxy.newProxyInstance(
                DriverFailuresIT.class.getClassLoader(), new Class<?>[] {kind}, (proxy, method, arguments) -> {
                    try {
                        return answers.of(method.getName(), method.invoke(target, arguments));
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    /** Is closed, but says otherwise once. */
    private static Connection refusing(Connection connection, AtomicBoolean fails) {
        return (Connection) Proxy.newProxyInstance(
                DriverFailuresIT.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                    Object answer = method.invoke(connection, arguments);
                    if (method.getName().equals("close") && fails.getAndSet(false)) {
                        throw new IllegalArgumentException("planted");
                    }
                    return answer;
                });
    }

    /** Fails at the so-manieth call but those that close it. */
    private static Connection failing(Connection connection, AtomicInteger calls) {
        return (Connection) Proxy.newProxyInstance(
                DriverFailuresIT.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                    boolean ends =
                            method.getName().equals("close") || method.getName().equals("abort");
                    if (!ends && calls.get() > 0 && calls.decrementAndGet() == 0) {
                        throw new IllegalStateException("planted");
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static HikariDataSource h2() {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl("jdbc:h2:mem:failures;DB_CLOSE_DELAY=-1");
        return pool;
    }
}
