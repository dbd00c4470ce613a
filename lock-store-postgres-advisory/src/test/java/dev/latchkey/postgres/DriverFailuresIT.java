package dev.latchkey.postgres;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.SocketFactory;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;

/** A driver that fails otherwise than by an SQLException, and one that waits long for a server. */
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
        public Socket createSocket(String host, int port) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Socket createSocket(String host, int port, InetAddress from, int fromPort) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Socket createSocket(InetAddress host, int port) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Socket createSocket(InetAddress host, int port, InetAddress from, int fromPort) {
            throw new UnsupportedOperationException();
        }
    }

    /** The next statement on that session read the answer to the one that had failed, and took what a rival held. */
    @Test
    void givenAnErrorInTheDriver_whenWhatARivalHoldsIsTried_thenAConflictAndWhatWasHeldIsLost() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                PostgresAdvisoryStore rivals = Stores.open(server);
                PostgresAdvisoryStore store =
                        Stores.open(server.dsn() + "?socketFactory=" + FailingSockets.class.getName());
                LockFactory locks = new LockFactory(store)) {
            granted(rivals.save(exclusive(Key.of("report"))));
            List<LossReason> losses = new CopyOnWriteArrayList<>();
            Lock kept = locks.lock("kept").onLost(losses::add).create();
            assertThat(kept.tryAcquire()).isTrue();
            FailingSockets.PLANTED.set(new StackOverflowError("planted"));
            Awaitility.await().until(() -> {
                try {
                    store.find(kept.key());
                    return FailingSockets.PLANTED.get() == null;
                } catch (StackOverflowError e) {
                    return true;
                }
            });

            assertThat(store.save(shared(Key.of("report")))).isInstanceOf(Response.Conflicted.class);

            Awaitility.await().untilAsserted(() -> assertThat(losses).containsExactly(LossReason.SESSION_LOST));
            // The server notices a moment later that the connection is gone.
            assertThat(locks.createLock("kept").tryAcquire(TimeLimits.LIMIT)).isTrue();
        }
    }

    /** One after the other, the last of many was told after many times the limit. */
    @Test
    void givenAServerThatNeverAnswers_whenManyAsk_thenAllAreToldWithinTheLimitOfOne() throws Exception {
        try (ServerSocket silent = new ServerSocket(0);
                PostgresAdvisoryStore store = Stores.open(
                        "postgresql://u@127.0.0.1:" + silent.getLocalPort() + "/db?connectTimeout=3&loginTimeout=3")) {
            long start = System.nanoTime();
            List<BackgroundCall<Response>> asked = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                Key key = Key.of("unheard-" + i);
                asked.add(BackgroundCall.start(() -> store.save(exclusive(key))));
            }

            for (BackgroundCall<Response> one : asked) {
                assertThatThrownBy(one::result).isInstanceOf(LockStorageException.class);
            }
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
        }
    }

    /** The others stayed open, with all they had locked. */
    @Test
    void givenAnErrorInTheDriver_whenTheStoreIsClosed_thenAllItsSessionsAre() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                PostgresAdvisoryStore rivals = Stores.open(server)) {
            AtomicBoolean fails = new AtomicBoolean();
            PGSimpleDataSource source = new PGSimpleDataSource() {
                @Override
                public Connection getConnection() throws SQLException {
                    return failing(super.getConnection(), fails);
                }
            };
            source.setUrl(server.jdbcUrl());
            PostgresAdvisoryStore store = new PostgresAdvisoryStore(source);
            granted(store.save(exclusive(Key.of("report"))));
            Session idle = store.sessions().own();
            Set<Session> sessions = Set.copyOf(store.sessions().open());
            fails.set(true);

            store.close();

            assertThat(sessions).hasSize(2).contains(idle).allMatch(Session::isEnded);
            Awaitility.await().until(() -> rivals.save(exclusive(Key.of("report"))) instanceof Response.Granted);
        }
    }

    /** The end of the time crossed the grant, and was told after the shared lock was gone: nothing was held any more. */
    @Test
    void givenTheEndOfAWaitCrossesItsGrant_whenPromoting_thenItSharesUntilItIsGranted() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                PostgresAdvisoryStore rivals = Stores.open(server)) {
            AtomicBoolean crosses = new AtomicBoolean(true);
            PGSimpleDataSource source = new PGSimpleDataSource() {
                @Override
                public Connection getConnection() throws SQLException {
                    return proxy(super.getConnection(), (method, result) -> {
                        boolean isWait = method.getName().equals("prepareStatement");
                        return isWait ? crossing((PreparedStatement) result, crosses) : result;
                    });
                }
            };
            source.setUrl(server.jdbcUrl());
            try (PostgresAdvisoryStore store = new PostgresAdvisoryStore(source);
                    LockFactory locks = new LockFactory(store)) {
                Key reader = Key.of("report");
                granted(rivals.save(shared(reader)));
                Lock promoter = locks.createLock("report");
                assertThat(promoter.tryAcquireShared()).isTrue();
                BackgroundCall<Lock> promoting = BackgroundCall.start(promoter::acquire);
                Awaitility.await().until(() -> Raw.waiting(server) > 0);

                assertThat(rivals.delete(reader)).isTrue();

                assertThat(promoting.result().key().held().map(Key.Held::mode)).contains(LockMode.EXCLUSIVE);
                assertThat(crosses).isFalse();
                assertThat(promoter.isAcquired()).isTrue();
                assertThat(promoter.release()).isTrue();
            }
            granted(rivals.save(exclusive(Key.of("report"))));
        }
    }

    /** Its session was believed to share still, though the server had let a rival in. */
    @Test
    void givenNoAnswerWhetherAReaderStillShares_whenPromoting_thenItsHoldIsLost() {
        try (PostgresServer server = PostgresServer.start();
                PostgresAdvisoryStore rivals = Stores.open(server)) {
            AtomicBoolean fails = new AtomicBoolean(true);
            PGSimpleDataSource source = new PGSimpleDataSource() {
                @Override
                public Connection getConnection() throws SQLException {
                    return proxy(super.getConnection(), (method, result) -> {
                        boolean isPrepared = method.getName().equals("prepareStatement");
                        return isPrepared ? cancelled((PreparedStatement) result, fails) : result;
                    });
                }
            };
            source.setUrl(server.jdbcUrl());
            try (PostgresAdvisoryStore store = new PostgresAdvisoryStore(source);
                    LockFactory locks = new LockFactory(store)) {
                Lock promoter = locks.createLock("report");
                assertThat(promoter.tryAcquireShared()).isTrue();
                Key other = Key.of("report");
                granted(store.save(shared(other)));

                assertThatThrownBy(() -> promoter.acquire(Duration.ofSeconds(30)))
                        .isInstanceOfAny(LockStorageException.class, LockLostException.class);

                assertThat(fails).isFalse();
                assertThat(promoter.isExpired()).isTrue();
                Awaitility.await().until(() -> rivals.save(exclusive(Key.of("report"))) instanceof Response.Granted);
            }
        }
    }

    /** A statement that stops to share, and is then said to have been cancelled, once. */
    private static Object cancelled(PreparedStatement statement, AtomicBoolean fails) {
        return proxy(statement, (method, result) -> {
            if (method.getName().equals("executeQuery")
                    && statement.toString().contains("pg_advisory_unlock_shared(")
                    && !statement.toString().contains("CASE")
                    && fails.getAndSet(false)) {
                throw new SQLException("canceling statement due to user request (planted)", "57014");
            }
            return result;
        });
    }

    /** A wait to promote that is granted, and then said to be over, once. */
    private static Object crossing(PreparedStatement statement, AtomicBoolean crosses) {
        return proxy(statement, (method, result) -> {
            if (method.getName().equals("executeQuery")
                    && statement.toString().contains("'lock_timeout', '5000'")
                    && crosses.getAndSet(false)) {
                throw new SQLException("canceling statement due to lock timeout (planted)", "55P03");
            }
            return result;
        });
    }

    /** What becomes of what a driver has returned. */
    private interface After {
        Object of(Method method, Object result) throws SQLException;
    }

    private static <T> T proxy(T target, After after) {
        Class<?>[] types = target instanceof Connection
                ? new Class<?>[] {Connection.class, PGConnection.class}
                : new Class<?>[] {PreparedStatement.class};
        @SuppressWarnings("unchecked") // one of the types
        T made = (T) Proxy.newProxyInstance(
                DriverFailuresIT.class.getClassLoader(), types, (proxy, method, arguments) -> {
                    if (method.getName().equals("isWrapperFor")) {
                        return true;
                    }
                    if (method.getName().equals("unwrap")) {
                        return proxy;
                    }
                    try {
                        return after.of(method, method.invoke(target, arguments));
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        return made;
    }

    /** A driver's own connection, to the store, that fails when it is asked something or closed. */
    private static Connection failing(Connection connection, AtomicBoolean fails) {
        return (Connection) Proxy.newProxyInstance(
                DriverFailuresIT.class.getClassLoader(),
                new Class<?>[] {Connection.class, PGConnection.class},
                (proxy, method, arguments) -> {
                    String name = method.getName();
                    if (name.equals("isWrapperFor")) {
                        return true;
                    }
                    if (name.equals("unwrap")) {
                        return proxy;
                    }
                    if (fails.get() && (name.equals("prepareStatement") || name.equals("close"))) {
                        throw new StackOverflowError("planted");
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
