package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.MariaDbServer;
import dev.latchkey.testkit.ServerAddress;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What may go wrong with a MariaDB server, or on the way to it. */
@Timeout(180)
class MariaDbFaultIT {

    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Test
    void givenHolding_whenItsBackendsAreKilled_thenTheLeaseIsKeptAndReleased() throws Exception {
        try (MariaDbServer server = MariaDbServer.start();
                JdbcStore store = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock("kept", LONG).acquire();

            assertThat(killBackends(server)).isPositive();

            assertThat(lock.isAcquired()).isTrue();
            assertThat(lock.refresh().isAcquired()).isTrue();
            assertThat(locks.createLock("kept", LONG).tryAcquire()).isFalse();
            assertThat(lock.release()).isTrue();
        }
    }

    @Test
    void givenWaiting_whenItsBackendsAreKilledAgainAndAgain_thenItWaitsOnAndGetsIt() throws Exception {
        try (MariaDbServer server = MariaDbServer.start();
                JdbcStore holding = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(holding);
                JdbcStore waitingStore = Stores.open(server.dsn());
                LockFactory others = new LockFactory(waitingStore)) {
            Lock holder = locks.createLock("waited", LONG).acquire();
            Task<Lock> waiting =
                    Task.start(() -> others.createLock("waited", LONG).acquire());

            for (int i = 0; i < 5; i++) {
                long asked = asked(server);
                killBackends(server);
                Awaitility.await().atMost(LIMIT).until(() -> waiting.isDone() || asked(server) > asked + 1);
            }

            assertThat(waiting.isDone()).isFalse();
            assertThat(holder.release()).isTrue();
            assertThat(waiting.result().isAcquired()).isTrue();
        }
    }

    @Test
    void givenTheReplyToAnAcquireIsLost_whenTheConnectionIsCut_thenItIsAskedAgainAndHeldOnce() throws Exception {
        try (MariaDbServer server = MariaDbServer.start();
                FaultProxy proxy = FaultProxy.to(server.address());
                JdbcStore store = Stores.open(dsn(proxy.address()));
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

    /** Done a second time, a release would say that the lock was not held. */
    @Test
    void givenTheReplyToAReleaseIsLost_whenTheConnectionIsCut_thenAFailureAndItIsFree() throws Exception {
        try (MariaDbServer server = MariaDbServer.start();
                FaultProxy proxy = FaultProxy.to(server.address());
                JdbcStore store = Stores.open(dsn(proxy.address()));
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock("lost-release", LONG).acquire();
            CompletableFuture<Void> lost = proxy.loseReplyTo("lost-release");

            assertThatThrownBy(lock::release).isInstanceOf(LockStorageException.class);

            assertThat(lost).isDone();
            assertThat(locks.createLock("lost-release", LONG).tryAcquire()).isTrue();
        }
    }

    @Test
    void givenHolds_whenTheServerIsKilledAndStarted_thenTheyAreKeptAndTokensGrow() throws Exception {
        try (MariaDbServer server = MariaDbServer.start();
                JdbcStore store = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock("kept", LONG).acquire();
            long token = lock.fencingToken().orElseThrow();

            server.kill();
            assertThatThrownBy(() -> locks.createLock("other", LONG).tryAcquire())
                    .isInstanceOf(LockStorageException.class);
            server.restart();

            Awaitility.await()
                    .atMost(LIMIT)
                    .ignoreExceptionsInstanceOf(LockStorageException.class)
                    .until(lock::isAcquired);
            assertThat(locks.createLock("kept", LONG).tryAcquire()).isFalse();
            assertThat(lock.release()).isTrue();
            assertThat(locks.createLock("kept", LONG).acquire().fencingToken().orElseThrow())
                    .isGreaterThan(token);
        }
    }

    private static String dsn(ServerAddress address) {
        return "mariadb://root@" + address + "/test?sslMode=disable";
    }

    private static Connection connect(MariaDbServer server) throws SQLException {
        return DriverManager.getConnection(Dsn.parse(server.dsn()).url() + "&user=root");
    }

    /** Ends the sessions of all stores, as an administrator does. */
    private static int killBackends(MariaDbServer server) throws SQLException {
        try (Connection connection = connect(server);
                Statement statement = connection.createStatement()) {
            List<Long> sessions = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery(
                    "SELECT id FROM information_schema.processlist WHERE user = 'root' AND id <> CONNECTION_ID()")) {
                while (rows.next()) {
                    sessions.add(rows.getLong(1));
                }
            }
            for (long session : sessions) {
                kill(statement, session);
            }
            return sessions.size();
        }
    }

    private static void kill(Statement statement, long session) throws SQLException {
        try {
            statement.execute("KILL " + session);
        } catch (SQLException e) {
            // It has ended by itself meanwhile.
            assertThat(e.getMessage()).contains("Unknown thread");
        }
    }

    private static long asked(MariaDbServer server) throws SQLException {
        try (Connection connection = connect(server);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SHOW GLOBAL STATUS LIKE 'Com_insert_select'")) {
            row.next();
            return row.getLong(2);
        }
    }
}
