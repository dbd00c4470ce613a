package dev.latchkey.jdbc;

import static dev.latchkey.testkit.Requests.holding;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.semaphore.Semaphore;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.PermitStress;
import dev.latchkey.testkit.TimeLimits;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What may go wrong with any server, or on the way to it. */
@Execution(ExecutionMode.CONCURRENT)
interface DatabaseFaults {

    Duration LONG = Fixture.LONG_TTL;
    Duration LIMIT = TimeLimits.LIMIT;

    FaultyDatabase start();

    @Test
    default void givenHolding_whenItsSessionsAreEnded_thenTheLeaseIsKeptAndReleased() throws Exception {
        try (FaultyDatabase database = start();
                JdbcStore store = Stores.open(database.dsn());
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock("kept", LONG).acquire();

            assertThat(database.endSessions()).isPositive();

            assertThat(lock.isAcquired()).isTrue();
            assertThat(lock.refresh().isAcquired()).isTrue();
            assertThat(locks.createLock("kept", LONG).tryAcquire()).isFalse();
            assertThat(lock.release()).isTrue();
        }
    }

    @Test
    default void givenTheReplyToAnAcquireIsLost_whenTheConnectionIsCut_thenItIsAskedAgainAndHeldOnce()
            throws Exception {
        try (FaultyDatabase database = start();
                FaultProxy proxy = FaultProxy.to(database.address());
                JdbcStore store = Stores.open(database.dsn(proxy.address()));
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

    /** Of a request for several, which reads, decides and then writes in one transaction. */
    @Test
    default void givenAReplyToABatchIsLost_whenTheConnectionIsCut_thenAllAreHeldOrNone() throws Exception {
        try (FaultyDatabase database = start();
                FaultProxy proxy = FaultProxy.to(database.address());
                JdbcStore store = Stores.open(database.dsn(proxy.address()));
                LockFactory locks = new LockFactory(store)) {
            List<String> resources = List.of("lost-batch-a", "lost-batch-b", "lost-batch-c");
            Lock rival = locks.all(resources).ttl(LONG).create();
            assertThat(rival.tryAcquire() && rival.release()).isTrue();
            Lock lock = locks.all(resources).ttl(LONG).create();
            CompletableFuture<Void> lost = proxy.loseReplyTo("lost-batch-b");

            boolean isAcquired = isAcquired(lock);

            assertThat(lost).isDone();
            assertThat(lock.isAcquired()).isEqualTo(isAcquired);
            assertThat(lock.fencingTokens()).hasSize(isAcquired ? 3 : 0);
            assertThat(lock.release()).isEqualTo(isAcquired);
            assertThat(rival.tryAcquire()).isTrue();
        }
    }

    private static boolean isAcquired(Lock lock) {
        try {
            return lock.tryAcquire();
        } catch (LockStorageException e) {
            return false;
        }
    }

    /** Done a second time, a release would say that the lock was not held. */
    @Test
    default void givenTheReplyToAReleaseIsLost_whenTheConnectionIsCut_thenAFailureAndItIsFree() throws Exception {
        try (FaultyDatabase database = start();
                FaultProxy proxy = FaultProxy.to(database.address());
                JdbcStore store = Stores.open(database.dsn(proxy.address()));
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock("lost-release", LONG).acquire();
            CompletableFuture<Void> lost = proxy.loseReplyTo("lost-release");

            assertThatThrownBy(lock::release).isInstanceOf(LockStorageException.class);

            assertThat(lost).isDone();
            assertThat(locks.createLock("lost-release", LONG).tryAcquire()).isTrue();
        }
    }

    @Test
    default void givenHolds_whenTheServerIsKilledAndStarted_thenTheyAreKeptAndTokensGrow() throws Exception {
        try (FaultyDatabase database = start();
                JdbcStore store = Stores.open(database.dsn());
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock("kept", LONG).acquire();
            long token = lock.fencingToken().orElseThrow();

            database.kill();
            assertThatThrownBy(() -> locks.createLock("other", LONG).tryAcquire())
                    .isInstanceOf(LockStorageException.class);
            database.restart();

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

    @Test
    default void givenHeld_whenTheTableIsDropped_thenTheNextUseCreatesItAndTheHolderLearns() throws Exception {
        try (FaultyDatabase database = start();
                JdbcStore store = Stores.open(database.dsn());
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock("dropped", LONG).acquire();
            long token = lock.fencingToken().orElseThrow();
            database.execute("DROP TABLE latchkey_lock");

            assertThat(lock.isAcquired()).isFalse();

            Lock next = locks.createLock("dropped", LONG).acquire();
            assertThat(next.fencingToken().orElseThrow()).isGreaterThan(token);
        }
    }

    @Test
    default void givenThePoolIsExhausted_whenAcquired_thenFailureThatSaysWhatHelps() throws Exception {
        try (FaultyDatabase database = start();
                HikariDataSource pool = pool(database, 1);
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
    default void givenOthersHaveTheWholePool_whenARivalHolds_thenTheHolderKnewAndIsToldOnce() throws Exception {
        try (FaultyDatabase database = start();
                HikariDataSource pool = pool(database, 1);
                JdbcStore rivals = Stores.open(database.dsn());
                LockFactory locks = new LockFactory(new JdbcStore(pool));
                LockFactory others = new LockFactory(rivals)) {
            List<LossReason> losses = new CopyOnWriteArrayList<>();
            Lock holder = locks.lock("starved")
                    .ttl(TimeLimits.ttl(Duration.ofSeconds(8)))
                    .autoRefresh()
                    .onLost(losses::add)
                    .create();
            assertThat(holder.tryAcquire()).isTrue();
            Lock rival = others.createLock("starved", LONG);
            try (Connection transaction = pool.getConnection()) {
                transaction.setAutoCommit(false);

                rival.acquire(LIMIT);

                assertThat(holder.isExpired()).isTrue();
                // With a connection to be had, a refresh might be told first that it was taken over.
                Awaitility.await().atMost(LIMIT).until(() -> !losses.isEmpty());
            }
            assertThat(holder.release()).isFalse();
            assertThat(losses).containsExactly(LossReason.STORE_UNREACHABLE);
            assertThat(rival.isAcquired()).isTrue();
        }
    }

    @Test
    default void givenATransactionOfTheSamePool_whenItIsRolledBack_thenTheLockTakenInItIsHeldStill() throws Exception {
        try (FaultyDatabase database = start();
                HikariDataSource pool = pool(database, 2);
                LockFactory locks = new LockFactory(new JdbcStore(pool));
                Connection transaction = pool.getConnection();
                Statement statement = transaction.createStatement()) {
            database.execute("CREATE TABLE mine (x int)");
            transaction.setAutoCommit(false);
            statement.execute("INSERT INTO mine VALUES (1)");
            Lock lock = locks.createLock("apart", LONG).acquire();

            transaction.rollback();

            assertThat(lock.isAcquired()).isTrue();
            assertThat(database.count("SELECT count(*) FROM mine")).isZero();
        }
    }

    /** A18: asked again while the first statement waited still, the two were done in any order. */
    @Test
    default void givenARowIsLocked_whenTheServerDoesNotAnswerInTime_thenTheStatementIsNotSentAgain() throws Exception {
        try (FaultyDatabase database = start();
                JdbcStore store = Stores.open(database.impatientDsn());
                LockFactory locks = new LockFactory(store);
                Connection others = database.connect();
                Statement transaction = others.createStatement()) {
            Lock lock = locks.createLock("slow", LONG).acquire();
            others.setAutoCommit(false);
            lockRow(transaction, "slow");

            assertThatThrownBy(lock::refresh).isInstanceOf(LockStorageException.class);
            assertThat(database.running("UPDATE %latchkey_lock")).isEqualTo(1);
            assertThatThrownBy(() -> store.save(exclusive("slow"))).isInstanceOf(LockStorageException.class);
            assertThat(database.running("INSERT INTO %latchkey_lock")).isEqualTo(1);
            others.rollback();

            assertThat(lock.refresh().isAcquired()).isTrue();
            assertThat(lock.isAcquired()).isTrue();
        }
    }

    /** F1: what a demotion or a shortening has to write counts only while the row is the one that was read. */
    @Test
    default void givenADemotionWasDecided_whenTheRowChangedMeanwhile_thenItsStatementDoesNothing() throws Exception {
        try (FaultyDatabase database = start();
                JdbcStore store = Stores.open(database.dsn())) {
            Key key = Key.of("late");
            Request first = new Request(key, LockMode.EXCLUSIVE, LONG, RetryIntent.ONCE);
            Key claim = holding(key, store.save(first));
            Request demotion = new Request(claim, LockMode.SHARED, LONG, RetryIntent.ONCE);
            try (Connection late = database.connect()) {
                Statements statements = new Statements(
                        Dialects.of(late), new TableName(Optional.empty(), Sql.TABLE), ReleaseCommit.ASYNCHRONOUS);
                Decision<Response> decided =
                        new Rules(statements.read(late, "late"), demotion, System.nanoTime(), "late").save();
                Response renewed = store.refresh(new Request(claim, LockMode.EXCLUSIVE, LONG, RetryIntent.ONCE));
                assertThat(renewed).isInstanceOf(Response.Granted.class);

                assertThat(statements.write(late, "late", decided)).isFalse();
            }
            assertThat(store.find(claim).orElseThrow().mode()).isEqualTo(LockMode.EXCLUSIVE);
        }
    }

    @Test
    default void givenSerializationFailures_whenAcquired_thenItIsTriedAgainWithinTheCall() throws Exception {
        try (FaultyDatabase database = start();
                JdbcStore store = Stores.open(database.dsn());
                LockFactory locks = new LockFactory(store)) {
            locks.createLock("serialized").acquire().release();
            database.failNextUpdates(3);

            assertThat(locks.createLock("serialized", LONG).tryAcquire()).isTrue();

            assertThat(database.updates()).as("three that failed and one").isEqualTo(4);
        }
    }

    @Test
    default void givenSerializationFailuresWithoutEnd_whenAcquired_thenFailureAndNoConflict() throws Exception {
        try (FaultyDatabase database = start();
                JdbcStore store = Stores.open(database.dsn());
                LockFactory locks = new LockFactory(store)) {
            locks.createLock("serialized").acquire().release();
            database.failNextUpdates(1_000_000);

            assertThatThrownBy(() -> locks.createLock("serialized").tryAcquire())
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("40001");

            assertThat(database.updates()).isGreaterThan(3);
        }
    }

    /** A transaction of others has one row and wants the other, the batch has that and wants the first. */
    @Test
    default void givenADeadlockWithATransactionOfOthers_whenTheBatchIsTheVictim_thenItIsTriedAgainAndGranted()
            throws Exception {
        try (FaultyDatabase database = start();
                JdbcStore store = Stores.open(database.dsn());
                LockFactory locks = new LockFactory(store);
                Connection others = database.connect();
                Statement transaction = others.createStatement();
                Connection beside = database.connect();
                Statement look = beside.createStatement()) {
            locks.createLock("a").acquire().release();
            locks.createLock("b").acquire().release();
            database.execute("CREATE TABLE weight (x int)");
            others.setAutoCommit(false);
            database.spareInDeadlocks(transaction);
            lockRow(transaction, "b");

            Task<BatchAttempt> batch = Task.start(() -> store.saveAll(List.of(exclusive("a"), exclusive("b"))));
            Awaitility.await().atMost(LIMIT).until(() -> isLocked(look, "a"));
            lockRow(transaction, "a");
            others.commit();

            assertThat(batch.result()).isInstanceOf(BatchAttempt.Granted.class);
            assertThat(locks.createLock("a").tryAcquire()).isFalse();
        }
    }

    /** Also with -Dlatchkey.permits.operations=20000, for longer, and with another -Dlatchkey.permits.seed. */
    @Test
    @Tag("slow")
    default void givenTheNetworkFails_whenPermitsAreStressed_thenNeverMoreAreHeldThanThereAreAndAllComeBack()
            throws Exception {
        int operations = Integer.getInteger("latchkey.permits.operations", 1_000);
        long seed = Long.getLong("latchkey.permits.seed", 1);
        try (FaultyDatabase database = start();
                FaultProxy proxy = FaultProxy.to(database.address());
                JdbcStore behind = Stores.open(database.dsn(proxy.address()));
                JdbcStore direct = Stores.open(database.dsn());
                LockFactory locks = new LockFactory(behind);
                LockFactory rivals = new LockFactory(direct)) {
            Duration ttl = TimeLimits.ttl(Duration.ofMillis(400));
            PermitStress stress = new PermitStress("stressed", List.of(locks, rivals), operations, ttl, seed);
            List<BackgroundCall<Integer>> calls = stress.start();
            // One that lasts until it has met a call: those that follow are brief, and each may miss them.
            proxy.refuse();
            Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(1)).until(() -> stress.failures() > 0);
            proxy.heal();
            Random random = new Random(seed);
            while (calls.stream().anyMatch(call -> !call.isDone())) {
                disturb(proxy, random);
                pause(random);
            }
            proxy.heal();
            int[] acquired = new int[2];
            for (int thread = 0; thread < calls.size(); thread++) {
                acquired[thread % acquired.length] += calls.get(thread).result();
            }
            assertThat(acquired).as("how often the threads of each factory").doesNotContain(0);

            assertThat(stress.history().violations()).isEmpty();
            assertThat(stress.history().size()).isGreaterThan(operations / 10);
            assertThat(stress.failures()).as("calls that met a fault").isPositive();
            Semaphore seen = rivals.semaphore("stressed", PermitStress.PERMITS).create();
            assertThat(seen.acquire(PermitStress.PERMITS, LIMIT).release()).isTrue();
        }
    }

    private static void disturb(FaultProxy network, Random random) throws InterruptedException {
        switch (random.nextInt(3)) {
            case 0 -> network.cut();
            case 1 -> network.refuse();
            default -> network.silence();
        }
        pause(random);
        network.heal();
    }

    private static void pause(Random random) throws InterruptedException {
        boolean unused = new CountDownLatch(1).await(random.nextInt(300), TimeUnit.MILLISECONDS);
    }

    private static Request exclusive(String resource) {
        return new Request(Key.of(resource), LockMode.EXCLUSIVE, LONG, RetryIntent.ONCE);
    }

    private static void lockRow(Statement transaction, String resource) throws SQLException {
        String row = "SELECT version FROM latchkey_lock WHERE resource = '" + resource + "' FOR UPDATE";
        try (ResultSet locked = transaction.executeQuery(row)) {
            assertThat(locked.next()).isTrue();
        }
    }

    private static boolean isLocked(Statement look, String resource) throws SQLException {
        String free = "SELECT count(*) FROM (SELECT version FROM latchkey_lock WHERE resource = '" + resource
                + "' FOR UPDATE SKIP LOCKED) AS free";
        try (ResultSet count = look.executeQuery(free)) {
            return count.next() && count.getLong(1) == 0;
        }
    }

    private static HikariDataSource pool(FaultyDatabase database, int size) {
        Dsn dsn = Dsn.parse(database.dsn());
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(dsn.url());
        dsn.user().ifPresent(config::setUsername);
        config.setMaximumPoolSize(size);
        // The pool makes a limit of it that goes for whoever connects in this JVM.
        config.setConnectionTimeout(TimeLimits.ttl(Duration.ofSeconds(4)).toMillis());
        return new HikariDataSource(config);
    }
}
