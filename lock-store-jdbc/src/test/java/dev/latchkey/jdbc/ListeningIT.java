package dev.latchkey.jdbc;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.ReleaseSubscription;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.PosixSignal;
import dev.latchkey.testkit.TimeLimits;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The connection that hears of releases: never in the way of a holder, and replaced when it is silent. */
class ListeningIT {

    private static final Duration LONG = Fixture.LONG_TTL;
    private static final Duration LIMIT = TimeLimits.LIMIT;

    /** Those who wait without being told ask after 15 s for the first time. */
    private static final Duration SOONER_THAN_ASKED = Duration.ofSeconds(12);

    /** B20: the listener took the only connection, and the holder could neither refresh nor release. */
    @Test
    void givenAPoolOfOne_whenSomebodyWaits_thenTheHolderRefreshesAndReleasesAndTheWaiterGetsIt() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                HikariDataSource pool = pool(server, 1);
                JdbcStore store = new JdbcStore(pool);
                LockFactory locks = new LockFactory(store)) {
            Lock holder = locks.createLock("one", LONG).acquire();
            Task<Lock> waiting = Task.start(() -> locks.createLock("one", LONG).acquire());
            Awaitility.await()
                    .atMost(LIMIT)
                    .until(() -> pool.getHikariPoolMXBean().getActiveConnections() > 0 || isMarked(server, "one"));

            for (int i = 0; i < 10; i++) {
                assertThat(holder.refresh().isAcquired()).isTrue();
            }

            assertThat(holder.release()).isTrue();
            assertThat(waiting.result().isAcquired()).isTrue();
        }
    }

    /** B20: a pool that is busy otherwise has nothing to spare either. */
    @Test
    void givenAPoolOfTwoWithATransaction_whenSomebodyWaits_thenTheHolderRefreshesAndReleases() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                HikariDataSource pool = pool(server, 2);
                JdbcStore store = new JdbcStore(pool);
                LockFactory locks = new LockFactory(store)) {
            Lock holder = locks.createLock("two", LONG).acquire();
            Task<Lock> waiting = Task.start(() -> locks.createLock("two", LONG).acquire());
            Awaitility.await().atMost(LIMIT).until(() -> !listeners(server).isEmpty());
            try (Connection transaction = pool.getConnection()) {
                transaction.setAutoCommit(false);

                for (int i = 0; i < 10; i++) {
                    assertThat(holder.refresh().isAcquired()).isTrue();
                }

                assertThat(holder.release()).isTrue();
                assertThat(waiting.result().isAcquired()).isTrue();
            }
        }
    }

    /** It has left its connection to others for half a minute, in which nobody was told of anything. */
    @Test
    void givenOneCallWasSlow_whenThePoolHasConnectionsAgain_thenTheStoreListensAgainSoon() throws Exception {
        Duration took = untilRecalledAfterASlowCall();
        // The machine may stand still in one.
        for (int i = 0; i < 2 && took.compareTo(SOONER_THAN_ASKED) >= 0; i++) {
            took = untilRecalledAfterASlowCall();
        }

        assertThat(took).isLessThan(SOONER_THAN_ASKED);
    }

    private static Duration untilRecalledAfterASlowCall() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                HikariDataSource pool = pool(server, 2);
                JdbcStore store = new JdbcStore(pool);
                LockFactory locks = new LockFactory(store);
                LockFactory rivals = LockFactory.connect(server.dsn())) {
            Lock kept = locks.lock("kept").ttl(LONG).sticky(LONG).create();
            Awaitility.await().atMost(LIMIT).until(() -> cycle(kept), unused -> isHeld(rivals, "kept"));
            assertThat(kept.tryAcquire()).isTrue();
            try (Connection transaction = pool.getConnection()) {
                assertThat(transaction.isValid((int) LIMIT.toSeconds())).isTrue();
                assertThat(locks.createLock("slow", LONG).tryAcquire()).isTrue();
            }
            long start = System.nanoTime();
            Lock rival = rivals.createLock("kept", LONG);
            Task<Boolean> waiting = Task.start(() -> rival.tryAcquire(LIMIT));
            Awaitility.await()
                    .atMost(LIMIT)
                    .until(() -> isMarked(server, "kept") && !listeners(server).isEmpty());

            assertThat(kept.release()).isTrue();

            assertThat(waiting.result()).isTrue();
            assertThat(rival.release()).isTrue();
            Awaitility.await().atMost(LIMIT).until(() -> cycle(kept), unused -> isHeld(rivals, "kept"));
            return Duration.ofNanos(System.nanoTime() - start);
        }
    }

    /** They slept as those do who are told, for up to half a minute. */
    @Test
    void givenThePoolIsShort_whenTheListenerGivesItsConnectionBack_thenThoseWhoWaitAreWokenToAskByThemselves()
            throws Exception {
        AtomicBoolean isShort = new AtomicBoolean();
        CountDownLatch spare = new CountDownLatch(1);
        try (PostgresServer server = PostgresServer.start();
                HikariDataSource pool = pool(server, 2);
                JdbcStore store = new JdbcStore(givenBy(pool, isShort, spare));
                LockFactory locks = new LockFactory(store)) {
            assertThat(locks.createLock("first", LONG).tryAcquire()).isTrue();
            try (ReleaseSubscription waiter = store.watch("one")) {
                Awaitility.await().atMost(LIMIT).until(waiter::isWatching);
                CompletionStage<?> woken = waiter.next();
                isShort.set(true);
                Task<Boolean> slow =
                        Task.start(() -> locks.createLock("slow", LONG).tryAcquire());
                Awaitility.await().atMost(LIMIT).until(() -> !waiter.isWatching());

                assertThat(woken).succeedsWithin(LIMIT);

                spare.countDown();
                assertThat(slow.result()).isTrue();
            } finally {
                spare.countDown();
            }
        }
    }

    /** A pool that has connections to give until it is short, and when it has one to spare again. */
    private static DataSource givenBy(DataSource pool, AtomicBoolean isShort, CountDownLatch spare) {
        return new DelegatingSource(pool) {
            @Override
            public Connection getConnection() throws SQLException {
                try {
                    if (isShort.get()) {
                        spare.await();
                    }
                } catch (InterruptedException e) {
                    throw new SQLException(e);
                }
                return super.getConnection();
            }
        };
    }

    private static boolean cycle(Lock lock) {
        return lock.tryAcquire() && lock.release();
    }

    private static boolean isHeld(LockFactory seenBy, String resource) {
        return !seenBy.holders(resource).isEmpty();
    }

    /** B31: the listener's backend is stopped, so that its connection is open and says nothing. */
    @Test
    void givenListening_whenItsConnectionFallsSilent_thenItListensOnAnother() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                JdbcStore holding = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(holding);
                JdbcStore waitingStore = Stores.open(server.dsn());
                LockFactory others = new LockFactory(waitingStore)) {
            Lock holder = locks.createLock("silent", LONG).acquire();
            Task<Lock> waiting =
                    Task.start(() -> others.createLock("silent", LONG).acquire());
            // Not before the waiter has asked: its pool tries its first connection, by an empty statement.
            long silent = Awaitility.await()
                    .atMost(LIMIT)
                    .until(
                            () -> isMarked(server, "silent") ? listeners(server) : List.<Long>of(),
                            found -> found.size() == 1)
                    .get(0);
            PosixSignal.STOP.sendTo(silent);
            try {
                Awaitility.await()
                        .atMost(LIMIT)
                        .until(() -> listeners(server).stream().anyMatch(pid -> pid != silent));
                assertThat(waiting.isDone()).isFalse();

                assertThat(holder.release()).isTrue();

                assertThat(waiting.result().isAcquired()).isTrue();
            } finally {
                PosixSignal.CONT.sendTo(silent);
            }
        }
    }

    /** B23: who waits elsewhere was not told that the lease ends sooner. */
    @Test
    void givenAWaiterElsewhere_whenTheHolderShortensItsLease_thenTheWaiterIsToldTheNewEnd() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                JdbcStore holding = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(holding);
                JdbcStore waitingStore = Stores.open(server.dsn());
                LockFactory others = new LockFactory(waitingStore)) {
            Duration took = untilGrantedAfterShortening(server, holding, locks, others);
            // The machine may stand still in one.
            for (int i = 0; i < 2 && took.compareTo(SOONER_THAN_ASKED) >= 0; i++) {
                took = untilGrantedAfterShortening(server, holding, locks, others);
            }

            assertThat(took).isLessThan(SOONER_THAN_ASKED);
        }
    }

    private static Duration untilGrantedAfterShortening(
            PostgresServer server, JdbcStore holding, LockFactory locks, LockFactory others) throws Exception {
        Lock holder = locks.createLock("shortened", LONG).acquire();
        Task<Lock> waiting =
                Task.start(() -> others.createLock("shortened", LONG).acquire());
        Awaitility.await().atMost(LIMIT).until(() -> !listeners(server).isEmpty() && isMarked(server, "shortened"));
        long start = System.nanoTime();
        // Not by the Lock, which fails if it is told later than that.
        granted(holding.refresh(exclusive(holder.key(), Duration.ofSeconds(2)).with(LeaseChange.SET)));
        Lock granted = waiting.result();
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        assertThat(granted.release()).isTrue();
        return took;
    }

    /** C21: the pool was closed under the listener, and said that a connection was broken. */
    @Test
    void givenSomebodyWaits_whenTheStoreIsClosed_thenTheListenerHasGivenItsConnectionBack() throws Exception {
        PrintStream before = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try (PostgresServer server = PostgresServer.start()) {
            JdbcStore store = Stores.open(server.dsn());
            LockFactory locks = new LockFactory(store);
            locks.createLock("closing", LONG).acquire();
            Task<Lock> waiting =
                    Task.start(() -> locks.createLock("closing", LONG).acquire());
            Awaitility.await().atMost(LIMIT).until(() -> !listeners(server).isEmpty());
            System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));

            locks.close();
            store.close();

            Awaitility.await().atMost(LIMIT).until(() -> sessions(server) == 0 && waiting.isDone());
        } finally {
            System.setErr(before);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8)).doesNotContain("broken", "08003", "not-restored");
    }

    /** B21: with the flag set, the pool's close gave up half-way. */
    @Test
    void givenTheThreadIsInterrupted_whenTheStoreIsUsedAndClosed_thenItWorksAndKeepsTheFlag() throws Exception {
        try (PostgresServer server = PostgresServer.start()) {
            JdbcStore store = Stores.open(server.dsn());
            Key key = Key.of("interrupted");
            Task<Boolean> used = Task.start(() -> {
                Thread.currentThread().interrupt();
                store.createTable();
                boolean kept = Thread.currentThread().isInterrupted();
                granted(store.save(exclusive(key)));
                kept &= Thread.currentThread().isInterrupted() && store.delete(key);
                store.close();
                return kept && Thread.currentThread().isInterrupted();
            });

            assertThat(used.result()).isTrue();
            Awaitility.await().atMost(LIMIT).until(() -> sessions(server) == 0);
        }
    }

    private static HikariDataSource pool(PostgresServer server, int size) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(server.jdbcUrl());
        pool.setMaximumPoolSize(size);
        pool.setConnectionTimeout(8_000);
        return pool;
    }

    /** After some silence, its last statement is an empty one; a backend that has just started has had none. */
    private static List<Long> listeners(PostgresServer server) throws SQLException {
        return numbers(
                server,
                "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
                        + " OR query = '' AND query_start IS NOT NULL AND backend_type = 'client backend'");
    }

    private static long sessions(PostgresServer server) throws SQLException {
        return numbers(
                        server,
                        "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
                                + " AND pid <> pg_backend_pid()")
                .get(0);
    }

    private static boolean isMarked(PostgresServer server, String resource) throws SQLException {
        return numbers(server, "SELECT waited FROM latchkey_lock WHERE resource = '" + resource + "'")
                .contains(1L);
    }

    private static List<Long> numbers(PostgresServer server, String sql) throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<Long> numbers = new ArrayList<>();
            while (rows.next()) {
                numbers.add(rows.getLong(1));
            }
            return numbers;
        }
    }
}
