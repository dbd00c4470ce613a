package dev.latchkey.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.TimeLimits;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeLocks;
import dev.latchkey.tree.TreeRequest;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Sessions, servers and networks that end while somebody holds or waits. */
class FaultsIT {

    /** Twice this, 4.4 s, where the machine is not busy: a session that has said nothing for 5 s is asked. */
    private static final Duration AT_ONCE = Duration.ofMillis(2_200);

    private static PostgresServer server;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<LossReason> losses = new CopyOnWriteArrayList<>();
    private FaultProxy proxy;
    private PostgresAdvisoryStore store;
    private LockFactory locks;
    private PostgresAdvisoryStore otherStore;
    private LockFactory others;

    @BeforeAll
    static void start() {
        server = PostgresServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() {
        proxy = FaultProxy.to(server.address());
        store = Stores.open(proxy.address());
        locks = new LockFactory(store);
        otherStore = Stores.open(server);
        others = new LockFactory(otherStore);
    }

    @AfterEach
    void close() throws Exception {
        locks.close();
        others.close();
        store.close();
        otherStore.close();
        proxy.close();
        threads.shutdownNow();
        assertThat(threads.awaitTermination(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
    }

    @Test
    void givenHeld_whenItsBackendIsTerminated_thenToldAtOnceAndFree() throws Exception {
        Lock lock = watched("report");
        assertThat(lock.tryAcquire()).isTrue();

        Raw.terminate(server, "granted");

        awaitLoss(AT_ONCE);
        assertThat(lock.isAcquired()).isFalse();
        assertThat(lock.release()).isFalse();
        assertThat(others.createLock("report").tryAcquire()).isTrue();
        assertThat(lock.tryAcquire()).isFalse();
        Awaitility.await().untilAsserted(() -> assertThat(store.resources()).isZero());
    }

    /** A tree on a store without leases: the session is all there is. */
    @Test
    void givenATreeIsEdited_whenItsBackendIsTerminated_thenTheEditorIsToldOnceAndHoldsNothing() throws Exception {
        Map<String, List<String>> parents = Map.of("plant", List.of(), "pump", List.of("plant"));
        try (TreeLocks trees = TreeLocks.of(store, "plant").withoutStateRule().create();
                TreeEditor editor = trees.createEditor(parents::get)) {
            editor.onLost(losses::add);
            editor.acquire(TreeRequest.exclusive("pump"));

            Raw.terminate(server, "granted");

            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .untilAsserted(() -> assertThat(losses).containsExactly(LossReason.SESSION_LOST));
            assertThat(editor.held()).isEmpty();
            assertThatThrownBy(() -> editor.checkExclusive("pump")).isInstanceOf(LockLostException.class);
            editor.releaseAll();
            editor.acquire(TreeRequest.exclusive("pump"));
            assertThat(editor.holdsExclusive("pump")).isTrue();
            assertThat(losses).hasSize(1);
        }
    }

    @Test
    void givenManyHeld_whenTheirBackendIsTerminated_thenAllAreTold() throws Exception {
        for (int i = 0; i < 20; i++) {
            assertThat(watched("report-" + i).tryAcquire()).isTrue();
        }

        Raw.terminate(server, "granted");

        Awaitility.await().untilAsserted(() -> assertThat(losses).hasSize(20).containsOnly(LossReason.SESSION_LOST));
        Awaitility.await().untilAsserted(() -> assertThat(store.resources()).isZero());
        assertThat(locks.createLock("report-0").tryAcquire()).isTrue();
    }

    @Test
    void givenWaiting_whenItsBackendIsTerminated_thenAFailureAndTheHolderHolds() throws Exception {
        Lock holder = others.createLock("report");
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = locks.createLock("report");
        Future<Lock> waiting = startWaiting(waiter);

        Raw.terminate(server, "NOT granted");

        assertThatThrownBy(() -> waiting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(LockStorageException.class);
        assertThat(holder.isAcquired()).isTrue();
        assertThat(holder.release()).isTrue();
        assertThat(waiter.tryAcquire()).isTrue();
    }

    @Test
    void givenPromoting_whenItsBackendIsTerminated_thenLostAndTheOtherReaderReads() throws Exception {
        Lock reader = others.createLock("report");
        assertThat(reader.tryAcquireShared()).isTrue();
        Lock promoter = watched("report");
        assertThat(promoter.tryAcquireShared()).isTrue();
        Future<Lock> waiting = startWaiting(promoter);

        Raw.terminate(server, "NOT granted");

        assertThatThrownBy(() -> waiting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class);
        awaitLoss(AT_ONCE);
        assertThat(promoter.isAcquired()).isFalse();
        assertThat(reader.isAcquired()).isTrue();
        assertThat(reader.tryAcquire()).isTrue();
    }

    @Test
    void givenHeldAndWaiting_whenTheServerDiesAndComesBack_thenBothAreToldAndTokensGrow() throws Exception {
        Lock holder = watched("report");
        assertThat(holder.tryAcquire()).isTrue();
        long before = holder.fencingToken().orElseThrow();
        Future<Lock> waiting = startWaiting(others.createLock("report"));

        server.kill();

        awaitLoss(AT_ONCE);
        assertThatThrownBy(() -> waiting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .hasCauseInstanceOf(LockStorageException.class);
        assertThatThrownBy(() -> locks.createLock("report").tryAcquire()).isInstanceOf(LockStorageException.class);
        server.restart();
        Lock next = locks.createLock("report");
        assertThat(next.tryAcquire()).isTrue();
        assertThat(next.fencingToken().orElseThrow()).isGreaterThan(before);
        assertThat(others.createLock("report").tryAcquire()).isFalse();
    }

    /** The wal writer is slow, so that ids which were not waited for would be handed out again. */
    @Test
    void givenTokensWereMinted_whenTheServerDiesAtOnce_thenTheNextIsGreater() {
        try (PostgresServer slow = PostgresServer.start("wal_writer_delay=10s");
                PostgresAdvisoryStore onSlow = Stores.open(slow)) {
            LockFactory factory = new LockFactory(onSlow);
            long last = 0;
            for (int crash = 0; crash < 3; crash++) {
                for (int i = 0; i < 20; i++) {
                    Lock lock = factory.createLock("report");
                    assertThat(lock.tryAcquire()).isTrue();
                    assertThat(lock.fencingToken().orElseThrow()).isGreaterThan(last);
                    last = lock.fencingToken().orElseThrow();
                    lock.release();
                }
                slow.kill();
                slow.restart();
            }
            factory.close();
        }
    }

    @Test
    void givenHeld_whenTheConnectionIsCut_thenToldAtOnceAndTheStoreGoesOn() {
        Lock lock = watched("report");
        assertThat(lock.tryAcquire()).isTrue();

        proxy.cut();

        awaitLoss(AT_ONCE);
        Awaitility.await().untilAsserted(() -> assertThat(lock.tryAcquire()).isTrue());
    }

    @Test
    void givenNothingHeld_whenTheConnectionWasCut_thenTheNextAcquireDoesNotNotice() {
        Lock lock = locks.createLock("report");
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.release()).isTrue();

        proxy.cut();

        assertThat(lock.tryAcquire()).isTrue();
    }

    @Test
    void givenHeld_whenTheNetworkGoesSilent_thenToldBeforeTheServerFreesIt() throws Exception {
        Lock lock = watched("report");
        assertThat(lock.tryAcquire()).isTrue();

        proxy.silence();

        awaitLoss(Duration.ofSeconds(20));
        assertThat(others.createLock("report").tryAcquire()).isFalse();
        proxy.heal();
        assertThat(others.createLock("report").tryAcquire(TimeLimits.LIMIT)).isTrue();
    }

    /** Each on a connection of its own, as those have that were waited for. */
    @Test
    void givenManyHeld_whenTheNetworkGoesSilent_thenAllAreToldBeforeTheServerFreesThem() throws Exception {
        for (int i = 0; i < 4; i++) {
            Lock before = others.createLock("report-" + i);
            assertThat(before.tryAcquire()).isTrue();
            Future<Lock> waiting = startWaiting(watched("report-" + i));
            assertThat(before.release()).isTrue();
            assertThat(waiting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)
                            .isAcquired())
                    .isTrue();
        }

        proxy.silence();

        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .untilAsserted(() -> assertThat(losses).hasSize(4).containsOnly(LossReason.SESSION_LOST));
    }

    /** One who is never granted anything has no thread that looks after the connections. */
    @Test
    void givenARivalHolds_whenTheConnectionOfOneWhoTriesEndsAgainAndAgain_thenNoneIsRemembered() throws Exception {
        assertThat(others.createLock("report").tryAcquire()).isTrue();
        Lock loser = locks.createLock("report");
        for (int i = 0; i < 20; i++) {
            assertThat(loser.tryAcquire()).isFalse();
            Raw.run(
                    server,
                    "SELECT pg_terminate_backend(" + store.sessions().shared().pid() + ", 60000)");
        }

        assertThat(loser.tryAcquire()).isFalse();

        assertThat(store.sessions().open()).hasSize(1);
    }

    @Test
    void givenASpareConnectionWasCut_whenOneWaits_thenItWaitsAndIsGranted() throws Exception {
        Lock holder = others.createLock("report");
        assertThat(holder.tryAcquire()).isTrue();
        Future<Lock> first = startWaiting(locks.createLock("report"));
        assertThat(holder.release()).isTrue();
        assertThat(first.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS).release())
                .isTrue();
        proxy.cut();
        // One that was used just now is not looked at.
        Awaitility.await().pollDelay(Duration.ofMillis(200)).until(() -> proxy.connections() == 0);
        assertThat(holder.tryAcquire()).isTrue();

        Future<Lock> waiting = startWaiting(locks.createLock("report"));

        assertThat(waiting.isDone()).isFalse();
        assertThat(holder.release()).isTrue();
        assertThat(waiting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS).isAcquired())
                .isTrue();
    }

    /** It has moved to a connection of its own by then, which shares: nobody else may be kept out by that. */
    @Test
    void givenTwoShare_whenTheOneThatPromotesLosesItsConnection_thenNothingOfItIsLeft() throws Exception {
        Lock reader = locks.createLock("report");
        Lock promoter = locks.createLock("report");
        assertThat(reader.tryAcquireShared()).isTrue();
        assertThat(promoter.tryAcquireShared()).isTrue();
        CompletableFuture<Void> lost = proxy.loseReplyTo("pg_advisory_unlock_shared");

        // Its shared hold went with the connection: whether that is known yet when the call fails is a race.
        assertThatThrownBy(() -> promoter.acquire(TimeLimits.LIMIT))
                .isInstanceOfAny(LockLostException.class, LockStorageException.class);

        assertThat(lost).isCompleted();
        promoter.release();
        reader.release();
        assertThat(others.createLock("report").tryAcquire(TimeLimits.LIMIT)).isTrue();
    }

    @Test
    void givenTheReplyToAnAcquireIsLost_whenAskedAgain_thenHeldOnceOrNotAtAll() throws Exception {
        assertThat(locks.createLock("warm-up").tryAcquire()).isTrue();
        CompletableFuture<Void> lost = proxy.loseReplyTo("pg_try_advisory_lock");
        Lock lock = locks.createLock("report");

        boolean acquired = lock.tryAcquire(TimeLimits.LIMIT);

        assertThat(lost).isCompleted();
        assertThat(acquired).isTrue();
        assertThat(others.createLock("report").tryAcquire()).isFalse();
        assertThat(lock.release()).isTrue();
        assertThat(others.createLock("report").tryAcquire()).isTrue();
    }

    @Test
    void givenTheReplyToAReleaseIsLost_whenLookedAt_thenAFailureAndFree() throws Exception {
        Lock lock = locks.createLock("report");
        assertThat(lock.tryAcquire()).isTrue();
        CompletableFuture<Void> lost = proxy.loseReplyTo("pg_advisory_unlock");

        assertThatThrownBy(lock::release).isInstanceOf(LockStorageException.class);

        assertThat(lost).isCompleted();
        assertThat(others.createLock("report").tryAcquire(TimeLimits.LIMIT)).isTrue();
    }

    /** Somebody took the lock away from under the session: a release that finds nothing must not say it went well. */
    @Test
    void givenTheSessionLostTheLock_whenReleased_thenNotOursAndAllItCarriedIsLost() throws Exception {
        Lock lock = locks.createLock("report");
        Lock beside = watched("beside");
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(beside.tryAcquire()).isTrue();
        store.sessions().shared().text(Statements.UNLOCK_ALL);

        assertThat(lock.release()).isFalse();

        awaitLoss(AT_ONCE);
        assertThat(locks.createLock("report").tryAcquire()).isTrue();
    }

    @Test
    void givenTheSessionLostTheLock_whenAsked_thenNotAcquired() throws Exception {
        Lock lock = locks.createLock("report");
        assertThat(lock.tryAcquire()).isTrue();
        store.sessions().shared().text(Statements.UNLOCK_ALL);

        assertThat(lock.isAcquired()).isFalse();
    }

    @Test
    void givenHeld_whenTheStoreIsClosed_thenToldAndFreeAtOnce() {
        Lock lock = watched("report");
        assertThat(lock.tryAcquire()).isTrue();

        store.close();

        assertThat(others.createLock("report").tryAcquire()).isTrue();
        Awaitility.await().untilAsserted(() -> assertThat(losses).containsExactly(LossReason.STORE_CLOSED));
        assertThatThrownBy(() -> locks.createLock("report").tryAcquire())
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining("closed");
    }

    @Test
    void givenRoleWithTimeouts_whenWaitedLonger_thenTheWaitGoesOn() throws Exception {
        // Until the store has set its own, the server ends a session that says nothing for so long, or a statement that
        // takes so long: it has to fit in between.
        Duration limit = TimeLimits.ttl(Duration.ofSeconds(6));
        Raw.run(server, "CREATE ROLE hasty LOGIN");
        for (String setting : List.of("statement_timeout", "lock_timeout", "idle_session_timeout")) {
            Raw.run(server, "ALTER ROLE hasty SET " + setting + " = '" + limit.toMillis() + "ms'");
        }
        Raw.run(server, "ALTER ROLE hasty SET default_transaction_read_only = on");
        Lock holder = others.createLock("report");
        assertThat(holder.tryAcquire()).isTrue();
        try (PostgresAdvisoryStore hasty = Stores.open(server.dsn().replace("postgres@", "hasty@"));
                LockFactory hastily = new LockFactory(hasty)) {
            assertThat(hastily.createLock("beside").tryAcquire()).isTrue();
            Future<Lock> waiting = startWaiting(hastily.createLock("report"));

            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .during(limit.plusSeconds(1))
                    .until(() -> !waiting.isDone());

            assertThat(holder.release()).isTrue();
            assertThat(waiting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)
                            .isAcquired())
                    .isTrue();
        }
    }

    @Test
    void givenRoleWithoutAnyRight_whenAcquired_thenHeldWithAToken() throws Exception {
        Raw.run(server, "CREATE ROLE nobody LOGIN");
        try (PostgresAdvisoryStore poor = Stores.open(server.dsn().replace("postgres@", "nobody@"))) {
            Lock lock = new LockFactory(poor).createLock("report");

            assertThat(lock.tryAcquire()).isTrue();

            assertThat(lock.fencingToken()).isPresent();
            assertThat(poor.holders("report")).hasSize(1);
        }
    }

    @Test
    void givenServerIsFullOfLocks_whenAcquired_thenAFailureAndWhatWasHeldIsHeld() {
        try (PostgresServer small = PostgresServer.start("max_locks_per_transaction=10", "max_connections=10");
                PostgresAdvisoryStore onSmall = Stores.open(small);
                LockFactory factory = new LockFactory(onSmall)) {
            Lock first = factory.createLock("first");
            assertThat(first.tryAcquire()).isTrue();

            assertThatThrownBy(() -> {
                        for (int i = 0; i < 100_000; i++) {
                            assertThat(factory.createLock("report-" + i).tryAcquire())
                                    .isTrue();
                        }
                    })
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("53200");

            assertThat(first.isAcquired()).isTrue();
        }
    }

    /** A foreign client that promotes without our mark: the server lets it go at once, and us go on. */
    @Test
    void givenWeWaitToPromote_whenAForeignClientDoesToo_thenItIsRefusedAndWePromote() throws Exception {
        Lock reader = locks.createLock("report");
        assertThat(reader.tryAcquireShared()).isTrue();
        long number = LockId.of("report").hold();
        try (Connection foreign = server.connect()) {
            Raw.run(foreign, "SELECT pg_advisory_lock_shared(" + number + ")");
            Future<Lock> promoting = startWaiting(reader);

            assertThatThrownBy(() -> Raw.run(foreign, "SELECT pg_advisory_lock(" + number + ")"))
                    .hasMessageContaining("deadlock");

            assertThat(promoting.isDone()).isFalse();
            Raw.run(foreign, "SELECT pg_advisory_unlock_shared(" + number + ")");
            assertThat(promoting
                            .get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)
                            .fencingToken())
                    .isPresent();
        }
    }

    private Lock watched(String resource) {
        return locks.lock(resource).onLost(losses::add).create();
    }

    private void awaitLoss(Duration onIdleMachine) {
        Awaitility.await()
                .atMost(TimeLimits.scaled(onIdleMachine))
                .pollInterval(Duration.ofMillis(5))
                .untilAsserted(() -> assertThat(losses).containsExactly(LossReason.SESSION_LOST));
    }

    private Future<Lock> startWaiting(Lock waiter) {
        Future<Lock> waiting = threads.submit(() -> waiter.acquire());
        Awaitility.await().pollInterval(Duration.ofMillis(5)).until(() -> waiting.isDone() || Raw.waiting(server) > 0);
        return waiting;
    }
}
