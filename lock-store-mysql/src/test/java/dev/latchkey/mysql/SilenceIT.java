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
import dev.latchkey.testkit.RemoteLock;
import dev.latchkey.testkit.SecondProcess;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A network that goes silent, and a process that does: nothing is closed, and nothing is answered. */
@Execution(ExecutionMode.CONCURRENT)
class SilenceIT {

    private final List<LossReason> losses = new CopyOnWriteArrayList<>();
    private MariaDbServer server;
    private FaultProxy proxy;
    private MySqlLockStore store;
    private LockFactory locks;
    private MySqlLockStore otherStore;
    private LockFactory others;

    @BeforeEach
    void open() {
        server = MariaDbServer.start();
        proxy = FaultProxy.to(server.address());
        store = (MySqlLockStore) new MySqlLockStore.Provider().open(Stores.dsn(proxy.address()));
        locks = new LockFactory(store);
        otherStore = Stores.open(server);
        others = new LockFactory(otherStore);
    }

    @AfterEach
    void close() {
        proxy.heal();
        locks.close();
        others.close();
        store.close();
        otherStore.close();
        proxy.close();
        server.close();
    }

    @Test
    void givenHeld_whenTheNetworkGoesSilent_thenToldBeforeTheServerFreesItAfterHalfAMinute() throws Exception {
        long since = System.nanoTime();
        assertThat(watched("report").tryAcquire()).isTrue();

        proxy.silence();

        awaitLosses(1);
        assertThat(others.createLock("report").tryAcquire()).isFalse();
        assertThat(others.createLock("report").tryAcquire(TimeLimits.LIMIT)).isTrue();
        assertThat(Duration.ofNanos(System.nanoTime() - since)).isGreaterThan(Duration.ofSeconds(28));
    }

    /** Each on a connection of its own, as those have that were waited for. */
    @Test
    void givenManyHeld_whenTheNetworkGoesSilent_thenAllAreToldBeforeTheServerFreesThem() throws Exception {
        for (int i = 0; i < 4; i++) {
            Lock before = held("report-" + i);
            Lock next = watched("report-" + i);
            BackgroundCall<Lock> waiting = waitingInTheServer(next::acquire);
            assertThat(before.release()).isTrue();
            assertThat(waiting.result().isAcquired()).isTrue();
        }

        proxy.silence();

        awaitLosses(4);
        for (int i = 0; i < 4; i++) {
            assertThat(others.createLock("report-" + i).tryAcquire()).isFalse();
        }
    }

    /** The pings keep the server from ending the session, and the waiter's is long enough for its connection to be asked for. */
    @Test
    void givenHeldAndWaitedForLong_whenAllIsWell_thenBothGoOn() throws Exception {
        Lock holder = held("report");
        assertThat(watched("beside").tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = waitingInTheServer(locks.createLock("report")::acquire);

        Awaitility.await()
                .during(Duration.ofSeconds(35))
                .atMost(TimeLimits.LIMIT)
                .until(() -> !waiting.isDone());

        assertThat(holder.release()).isTrue();
        assertThat(waiting.result().isAcquired()).isTrue();
        assertThat(others.createLock("beside").tryAcquire()).isFalse();
        assertThat(losses).isEmpty();
    }

    @Test
    void givenAHolderIsFrozenForHalfAMinute_whenTheNextHolds_thenItKnowsAsSoonAsItGoesOn() throws Exception {
        try (SecondProcess other = SecondProcess.connect(Stores.getLock(server.dsn()))) {
            RemoteLock holder = other.lock("report", Duration.ofHours(1));
            assertThat(holder.tryAcquire()).isTrue();
            other.freeze();
            assertThat(others.createLock("report").tryAcquire(TimeLimits.LIMIT)).isTrue();

            other.thaw();

            assertThat(holder.isExpired()).isTrue();
            assertThat(holder.isAcquired()).isFalse();
            assertThat(holder.release()).isFalse();
        }
    }

    /** Cancellations reach nobody, as those of a dead host; the lock is neither granted nor refused. */
    @Test
    void givenAWaitForAMoment_whenTheNetworkGoesSilent_thenItEndsAndIsNoConflict() {
        held("report");
        Lock waiter = locks.createLock("report");
        // It must not be over before the silence.
        Duration moment = TimeLimits.scaled(Duration.ofSeconds(8));
        BackgroundCall<Boolean> waiting = waitingInTheServer(() -> waiter.tryAcquire(moment));

        proxy.silence();

        Awaitility.await().atMost(TimeLimits.LIMIT).until(waiting::isDone);
        assertThatThrownBy(waiting::result).isInstanceOf(LockStorageException.class);
    }

    @Test
    void givenOneWaits_whenItIsInterruptedInSilence_thenItEnds() {
        held("report");
        BackgroundCall<Lock> waiting = waitingInTheServer(locks.createLock("report")::acquire);
        proxy.silence();

        waiting.interrupt();

        Awaitility.await().atMost(TimeLimits.scaled(Duration.ofSeconds(12))).until(waiting::isDone);
        assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
    }

    /** A wait without a limit, of which nobody would ever hear. */
    @Test
    void givenOneWaits_whenTheNetworkGoesSilentForGood_thenAFailure() {
        held("report");
        BackgroundCall<Lock> waiting = waitingInTheServer(locks.createLock("report")::acquire);

        proxy.silence();

        Awaitility.await().atMost(TimeLimits.LIMIT).until(waiting::isDone);
        assertThatThrownBy(waiting::result).isInstanceOf(LockStorageException.class);
    }

    /** The thread that waits for an answer cannot be woken: what it is granted long after must not stay with it. */
    @Test
    void givenAWaitWasGivenUpInSilence_whenTheServerGrantsItLate_thenNothingIsLeftOfIt() throws Exception {
        Lock holder = held("report");
        BackgroundCall<Lock> waiting = waitingInTheServer(locks.createLock("report")::acquire);
        proxy.silence();
        waiting.interrupt();
        assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);

        proxy.heal();
        assertThat(holder.release()).isTrue();

        assertThat(holder.tryAcquire(TimeLimits.LIMIT)).isTrue();
        Awaitility.await().untilAsserted(() -> assertThat(Raw.waiting(server)).isZero());
    }

    @Test
    void givenTheServerIsFrozenWhileOneWaits_whenItGoesOn_thenHeldByOne() throws Exception {
        try (MariaDbServer frozen = MariaDbServer.start();
                MySqlLockStore onFrozen = Stores.open(frozen);
                MySqlLockStore rivals = Stores.open(frozen)) {
            LockFactory here = new LockFactory(onFrozen);
            LockFactory there = new LockFactory(rivals);
            Lock holder = here.lock("report").onLost(losses::add).create();
            assertThat(holder.tryAcquire()).isTrue();
            Lock waiter = there.createLock("report");
            BackgroundCall<Lock> waiting = BackgroundCall.start(waiter::acquire);
            Awaitility.await().until(() -> Raw.waiting(frozen) == 1);

            frozen.freeze();
            awaitLosses(1);
            frozen.thaw();

            assertThat(waiting.result().isAcquired()).isTrue();
            assertThat(holder.tryAcquire()).isFalse();
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

    /** It is 10 s for an answer and a quarter of one until the next ping. */
    private void awaitLosses(int count) {
        Awaitility.await()
                .atMost(TimeLimits.scaled(Duration.ofSeconds(15)))
                .pollInterval(Duration.ofMillis(20))
                .untilAsserted(() -> assertThat(losses).hasSize(count).containsOnly(LossReason.SESSION_LOST));
    }

    private <T> BackgroundCall<T> waitingInTheServer(Callable<T> call) {
        BackgroundCall<T> waiting = BackgroundCall.start(call);
        Awaitility.await().until(() -> waiting.isDone() || Raw.waiting(server) > 0);
        assertThat(waiting.isDone()).isFalse();
        return waiting;
    }
}
