package dev.latchkey.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A network that goes silent while somebody waits: nothing is closed, and nothing is answered. */
@Execution(ExecutionMode.CONCURRENT)
class SilenceIT {

    private PostgresServer server;
    private FaultProxy proxy;
    private PostgresAdvisoryStore store;
    private LockFactory locks;
    private PostgresAdvisoryStore otherStore;
    private LockFactory others;

    @BeforeEach
    void open() {
        server = PostgresServer.start();
        proxy = FaultProxy.to(server.address());
        store = Stores.open(proxy.address());
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

    private <T> BackgroundCall<T> waitingInTheServer(java.util.concurrent.Callable<T> call) {
        BackgroundCall<T> waiting = BackgroundCall.start(call);
        Awaitility.await().until(() -> waiting.isDone() || Raw.waiting(server) > 0);
        assertThat(waiting.isDone()).isFalse();
        return waiting;
    }

    private long lockTimeouts() {
        return server.log().stream()
                .filter(line -> line.contains("lock timeout"))
                .count();
    }

    /** A19: the session that waits carries the shared hold, and a wait is not probed. */
    @Test
    void givenAReaderWaitsToPromote_whenTheNetworkGoesSilent_thenToldInFifteenSeconds() {
        Lock reader = others.createLock("report");
        assertThat(reader.tryAcquireShared()).isTrue();
        List<LossReason> losses = new CopyOnWriteArrayList<>();
        Lock promoter = locks.lock("report").onLost(losses::add).create();
        assertThat(promoter.tryAcquireShared()).isTrue();
        BackgroundCall<Lock> waiting = waitingInTheServer(promoter::acquire);

        proxy.silence();

        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .untilAsserted(() -> assertThat(losses).containsExactly(LossReason.SESSION_LOST));
        assertThat(promoter.isExpired()).isTrue();
        Awaitility.await().atMost(TimeLimits.LIMIT).until(waiting::isDone);
        assertThatThrownBy(waiting::result).isInstanceOfAny(LockLostException.class, LockStorageException.class);
    }

    /** A19: what shows that the session lives must not cost it its place, or its hold. */
    @Test
    void givenAReaderWaitsToPromoteForLong_whenTheOtherGoes_thenItHoldsExclusively() throws Exception {
        Lock reader = others.createLock("report");
        assertThat(reader.tryAcquireShared()).isTrue();
        Lock promoter = locks.createLock("report");
        assertThat(promoter.tryAcquireShared()).isTrue();
        BackgroundCall<Lock> waiting = waitingInTheServer(promoter::acquire);
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> lockTimeouts() > 0);
        assertThat(waiting.isDone()).isFalse();
        assertThat(promoter.isExpired()).isFalse();
        assertThat(others.createLock("report").tryAcquire()).isFalse();
        Awaitility.await().until(() -> Raw.waiting(server) > 1);
        Lock late = others.createLock("report");
        BackgroundCall<Lock> coming = BackgroundCall.start(late::acquireShared);
        long timeouts = lockTimeouts();
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> lockTimeouts() > timeouts + 1);
        assertThat(coming.isDone()).isFalse();

        assertThat(reader.release()).isTrue();

        assertThat(waiting.result().fencingToken()).isPresent();
        assertThat(others.createLock("report").tryAcquireShared()).isFalse();
        assertThat(promoter.release()).isTrue();
        assertThat(coming.result().isAcquired()).isTrue();
        assertThat(late.release()).isTrue();
        assertThat(others.createLock("report").tryAcquire()).isTrue();
        Awaitility.await().untilAsserted(() -> assertThat(Raw.waiting(server)).isZero());
    }

    /** B28: cancellations reach nobody, as those of a dead host; the lock is neither granted nor refused. */
    @Test
    void givenAWaitForAMoment_whenTheNetworkGoesSilent_thenItEndsAndIsNoConflict() throws Exception {
        Lock holder = others.createLock("report");
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = locks.createLock("report");
        // It must not be over before the silence.
        Duration moment = TimeLimits.scaled(Duration.ofSeconds(8));
        BackgroundCall<Boolean> waiting = waitingInTheServer(() -> waiter.tryAcquire(moment));

        proxy.silence();

        assertThat(Raw.waiting(server)).isPositive();
        Awaitility.await().atMost(TimeLimits.LIMIT).until(waiting::isDone);
        assertThatThrownBy(waiting::result).isInstanceOf(LockStorageException.class);
    }

    /** B28. */
    @Test
    void givenOneWaits_whenItIsInterruptedInSilence_thenItEnds() {
        Lock holder = others.createLock("report");
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = locks.createLock("report");
        BackgroundCall<Lock> waiting = waitingInTheServer(waiter::acquire);
        proxy.silence();

        waiting.interrupt();

        Awaitility.await().atMost(TimeLimits.scaled(Duration.ofSeconds(12))).until(waiting::isDone);
        assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
    }

    /** B28: a wait without a limit, of which nobody would ever hear. */
    @Test
    void givenOneWaits_whenTheNetworkGoesSilentForGood_thenAFailure() {
        Lock holder = others.createLock("report");
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = locks.createLock("report");
        BackgroundCall<Lock> waiting = waitingInTheServer(waiter::acquire);

        proxy.silence();

        Awaitility.await().atMost(TimeLimits.LIMIT).until(waiting::isDone);
        assertThatThrownBy(waiting::result).isInstanceOf(LockStorageException.class);
    }

    /** B28: the server has lost the connection of the one that waits, and nobody tells us. */
    @Test
    void givenOneWaitsForLong_whenAllIsWell_thenItWaitsOn() throws Exception {
        Lock holder = others.createLock("report");
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = locks.createLock("report");
        BackgroundCall<Lock> waiting = waitingInTheServer(waiter::acquire);

        Awaitility.await()
                .during(Duration.ofSeconds(18))
                .atMost(TimeLimits.LIMIT)
                .until(() -> !waiting.isDone());

        assertThat(holder.release()).isTrue();
        assertThat(waiting.result().isAcquired()).isTrue();
    }

    /** B30: the server may hold the lock for a connection that is gone: that is no conflict with anybody. */
    @Test
    void givenTheReplyToAnAcquireNeverComes_whenTried_thenAFailureAndNotFalse() throws Exception {
        assertThat(locks.createLock("warm-up").tryAcquireShared()).isTrue();
        CompletableFuture<Void> dropped = proxy.dropMessage("case");

        assertThatThrownBy(() -> locks.createLock("report").tryAcquire())
                .isInstanceOfSatisfying(
                        LockStorageException.class,
                        failure -> assertThat(failure.failure()).isEqualTo(LockStorageException.Failure.IN_DOUBT));

        assertThat(dropped).isCompleted();
    }
}
