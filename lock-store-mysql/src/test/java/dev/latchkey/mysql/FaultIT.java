package dev.latchkey.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.TimeLimits;
import java.sql.Connection;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Sessions, servers and connections that end while somebody holds or waits. */
class FaultIT {

    private static MariaDbServer server;

    private final List<LossReason> losses = new CopyOnWriteArrayList<>();
    private FaultProxy proxy;
    private MySqlLockStore store;
    private LockFactory locks;
    private MySqlLockStore otherStore;
    private LockFactory others;

    @BeforeAll
    static void start() throws Exception {
        server = MariaDbServer.start();
        Raw.run(server, "CREATE USER nobody");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() {
        proxy = FaultProxy.to(server.address());
        store = (MySqlLockStore) new MySqlLockStore.Provider().open(Stores.dsn(proxy.address()));
        locks = new LockFactory(store);
        otherStore = Stores.open(server);
        others = new LockFactory(otherStore);
    }

    @AfterEach
    void close() {
        locks.close();
        others.close();
        store.close();
        otherStore.close();
        proxy.close();
    }

    @Test
    void givenHeld_whenItsConnectionIsKilled_thenToldAndFree() throws Exception {
        Lock lock = watched("report");
        assertThat(lock.tryAcquire()).isTrue();

        Raw.killHolder(server, "report");

        awaitLosses(1);
        assertThat(lock.isAcquired()).isFalse();
        assertThat(lock.release()).isFalse();
        // The server closes the connection before it frees what was held on it.
        assertThat(others.createLock("report").tryAcquire(TimeLimits.LIMIT)).isTrue();
        assertThat(lock.tryAcquire()).isFalse();
        Awaitility.await().untilAsserted(() -> assertThat(store.resources()).isZero());
    }

    @Test
    void givenManyHeld_whenTheirConnectionIsKilled_thenAllAreTold() throws Exception {
        for (int i = 0; i < 20; i++) {
            assertThat(watched("report-" + i).tryAcquire()).isTrue();
        }

        Raw.killHolder(server, "report-0");

        awaitLosses(20);
        Awaitility.await().untilAsserted(() -> assertThat(store.resources()).isZero());
        assertThat(locks.createLock("report-0").tryAcquire(TimeLimits.LIMIT)).isTrue();
    }

    /** One who is never granted anything has no thread that looks after the connections. */
    @Test
    void givenARivalHolds_whenTheConnectionOfOneWhoTriesIsKilledAgainAndAgain_thenNoneIsRemembered() throws Exception {
        Lock unused = held("report");
        Lock loser = locks.createLock("report");
        for (int i = 0; i < 20; i++) {
            assertThat(loser.tryAcquire()).isFalse();
            Raw.killAndAwait(server, store.sessions().shared().id());
        }

        assertThat(loser.tryAcquire()).isFalse();

        assertThat(store.sessions().open()).hasSize(1);
    }

    @Test
    void givenWaiting_whenItsConnectionIsKilled_thenAFailureAndTheHolderHolds() throws Exception {
        Lock holder = held("report");
        Lock waiter = locks.createLock("report");
        BackgroundCall<Lock> waiting = startWaiting(waiter);

        Raw.killWaiting(server, "CONNECTION");

        assertThatThrownBy(waiting::result).isInstanceOf(LockStorageException.class);
        assertThat(holder.isAcquired()).isTrue();
        assertThat(holder.release()).isTrue();
        assertThat(waiter.tryAcquire()).isTrue();
    }

    @Test
    void givenWaiting_whenSomebodyKillsItsStatement_thenAFailureAndNoConflict() throws Exception {
        Lock holder = held("report");
        Lock waiter = locks.createLock("report");
        BackgroundCall<Lock> waiting = startWaiting(waiter);

        Raw.killWaiting(server, "QUERY");

        assertThatThrownBy(waiting::result).isInstanceOf(LockStorageException.class);
        assertThat(holder.release()).isTrue();
        assertThat(waiter.tryAcquire()).isTrue();
    }

    @Test
    void givenHeldAndWaiting_whenTheServerDiesAndComesBack_thenBothAreTold() throws Exception {
        assertThat(watched("report").tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = startWaiting(others.createLock("report"));

        server.kill();

        awaitLosses(1);
        assertThatThrownBy(waiting::result).isInstanceOf(LockStorageException.class);
        assertThatThrownBy(() -> locks.createLock("report").tryAcquire()).isInstanceOf(LockStorageException.class);
        server.restart();
        assertThat(locks.createLock("report").tryAcquire()).isTrue();
        assertThat(others.createLock("report").tryAcquire()).isFalse();
    }

    @Test
    void givenHeld_whenTheConnectionIsCut_thenToldAndTheStoreGoesOn() {
        Lock lock = watched("report");
        assertThat(lock.tryAcquire()).isTrue();

        proxy.cut();

        awaitLosses(1);
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
    void givenASpareConnectionWasCut_whenOneWaits_thenItWaitsAndIsGranted() throws Exception {
        Lock holder = held("report");
        BackgroundCall<Lock> first = startWaiting(locks.createLock("report"));
        assertThat(holder.release()).isTrue();
        assertThat(first.result().release()).isTrue();
        proxy.cut();
        // One that was used just now is not asked.
        Awaitility.await().pollDelay(Duration.ofMillis(200)).until(() -> proxy.connections() == 0);
        assertThat(holder.tryAcquire()).isTrue();

        BackgroundCall<Lock> waiting = startWaiting(locks.createLock("report"));

        assertThat(waiting.isDone()).isFalse();
        assertThat(holder.release()).isTrue();
        assertThat(waiting.result().isAcquired()).isTrue();
    }

    @Test
    void givenTheReplyToAnAcquireIsLost_whenAskedAgain_thenHeldOnceOrNotAtAll() throws Exception {
        assertThat(locks.createLock("warm-up").tryAcquire()).isTrue();
        CompletableFuture<Void> lost = proxy.loseReplyTo("GET_LOCK('report'");
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
        CompletableFuture<Void> lost = proxy.loseReplyTo("RELEASE_LOCK('report'");

        assertThatThrownBy(lock::release).isInstanceOf(LockStorageException.class);

        assertThat(lost).isCompleted();
        assertThat(others.createLock("report").tryAcquire(TimeLimits.LIMIT)).isTrue();
    }

    /** Somebody took the lock away from under the session: a release that finds nothing must not say it went well. */
    @Test
    void givenTheSessionLostTheLock_whenReleased_thenNotOursAndAllItCarriedIsLost() throws Exception {
        Lock lock = locks.createLock("report");
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(watched("beside").tryAcquire()).isTrue();
        store.sessions().shared().ask(Statements.RELEASE_ALL, ResultSet::next);

        assertThat(lock.release()).isFalse();

        awaitLosses(1);
        assertThat(locks.createLock("report").tryAcquire()).isTrue();
    }

    @Test
    void givenTheSessionLostTheLock_whenAsked_thenNotAcquired() throws Exception {
        Lock lock = locks.createLock("report");
        assertThat(lock.tryAcquire()).isTrue();
        store.sessions().shared().ask(Statements.RELEASE_ALL, ResultSet::next);

        assertThat(lock.isAcquired()).isFalse();
    }

    @Test
    void givenHeldAndWaiting_whenTheStoreIsClosed_thenToldAndNothingIsLeftInTheServer() throws Exception {
        Lock foreign = held("foreign");
        assertThat(watched("report").tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = startWaiting(locks.createLock("foreign"));

        store.close();

        assertThat(others.createLock("report").tryAcquire()).isTrue();
        assertThatThrownBy(waiting::result)
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining("closed");
        Awaitility.await().untilAsserted(() -> assertThat(Raw.waiting(server)).isZero());
        Awaitility.await().untilAsserted(() -> assertThat(losses).containsExactly(LossReason.STORE_CLOSED));
        assertThat(foreign.release()).isTrue();
    }

    /** The server would end an idle session after a while, and a statement as well. */
    @Test
    void givenTheServerIsHasty_whenHeldAndWaitedForLonger_thenBothGoOn() throws Exception {
        // Until the store has set its own, it has to fit in between.
        Duration limit = TimeLimits.ttl(Duration.ofSeconds(6));
        String seconds = "=" + limit.toSeconds();
        try (MariaDbServer hasty = MariaDbServer.start(
                        "--wait-timeout" + seconds,
                        "--interactive-timeout" + seconds,
                        "--max-statement-time" + seconds);
                MySqlLockStore holding = Stores.open(hasty);
                MySqlLockStore waitingStore = Stores.open(hasty)) {
            Lock holder = new LockFactory(holding).createLock("report");
            assertThat(holder.tryAcquire()).isTrue();
            Lock waiter = new LockFactory(waitingStore).createLock("report");
            BackgroundCall<Lock> waiting = BackgroundCall.start(waiter::acquire);
            Awaitility.await().until(() -> Raw.waiting(hasty) > 0);

            Awaitility.await()
                    .during(limit.plusSeconds(1))
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> !waiting.isDone());

            assertThat(holder.release()).isTrue();
            assertThat(waiting.result().isAcquired()).isTrue();
        }
    }

    @Test
    void givenUserWithoutAnyRight_whenHeldAndWaitedFor_thenItWorks() throws Exception {
        try (MySqlLockStore poor =
                        Stores.open(server.dsn().replace("root@", "nobody@").replace("/test", "/"));
                LockFactory poorly = new LockFactory(poor)) {
            Lock lock = poorly.createLock("report");
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(poor.holders("report")).hasSize(1);
            assertThat(otherStore.holders("report")).singleElement().asString().contains("user nobody");
            assertThat(lock.release()).isTrue();
            Lock holder = held("report");
            assertThat(poor.holders("report")).hasSize(1);

            assertThat(poorly.createLock("report").tryAcquire(Duration.ofMillis(500)))
                    .isFalse();

            assertThat(holder.release()).isTrue();
            assertThat(lock.tryAcquire()).isTrue();
        }
    }

    /** To the server they are the same. */
    @Test
    void givenNamesThatDifferInCase_whenOneIsHeld_thenTheOtherIsFree() {
        held("report");

        assertThat(locks.createLock("REPORT").tryAcquire()).isTrue();
        assertThat(locks.createLock("report").tryAcquire()).isFalse();
    }

    @Test
    void givenAForeignClientHolds_whenTried_thenItsConnectionIsNamed() throws Exception {
        try (Connection foreign = Raw.connect(server)) {
            String id = Raw.rows(foreign, "SELECT CONNECTION_ID() FROM DUAL WHERE GET_LOCK('report', 0)")
                    .get(0);

            assertThat(locks.createLock("report").tryAcquire()).isFalse();
            assertThat(store.holders("report"))
                    .singleElement()
                    .asString()
                    .contains("connection " + id + ", user root, from 127.0.0.1");
        }
    }

    private Lock watched(String resource) {
        return locks.lock(resource).onLost(losses::add).create();
    }

    private Lock held(String resource) {
        Lock holder = others.createLock(resource);
        assertThat(holder.tryAcquire()).isTrue();
        return holder;
    }

    private void awaitLosses(int count) {
        Awaitility.await()
                .atMost(TimeLimits.scaled(Duration.ofSeconds(4)))
                .pollInterval(Duration.ofMillis(5))
                .untilAsserted(() -> assertThat(losses).hasSize(count).containsOnly(LossReason.SESSION_LOST));
    }

    private BackgroundCall<Lock> startWaiting(Lock waiter) {
        BackgroundCall<Lock> waiting = BackgroundCall.start(waiter::acquire);
        Awaitility.await().until(() -> waiting.isDone() || Raw.waiting(server) > 0);
        return waiting;
    }
}
