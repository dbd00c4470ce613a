package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.testkit.BackgroundCall;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Connections that break, and answers that are lost. */
class FaultsIT extends BesideRivals {

    FaultsIT() {
        super(LONG_SESSION);
    }

    @Test
    void givenHeld_whenTheConnectionIsCut_thenHeldStillWithTheSameToken() {
        List<LossReason> told = new CopyOnWriteArrayList<>();
        Lock lock = locks.createLock("cut", TTL);
        lock.onLost(told::add);
        assertThat(lock.tryAcquire()).isTrue();
        var token = lock.fencingToken();

        proxy.cut();

        assertThat(lock.isAcquired()).isTrue();
        assertThat(lock.fencingToken()).isEqualTo(token);
        assertThat(rivals.createLock("cut").tryAcquire()).isFalse();
        assertThat(told).isEmpty();
        assertThat(lock.release()).isTrue();
        assertThat(rivals.createLock("cut").tryAcquire()).isTrue();
    }

    @Test
    void givenTheReplyToCreateIsLost_whenTried_thenItsNodeIsFoundAgainAndUsed() throws Exception {
        CompletableFuture<Void> lost = proxy.loseReplyTo("/latchkey/lost-reply/");
        Lock lock = locks.createLock("lost-reply", TTL);

        // The first creation finds no parent: its reply is the one that is lost.
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lost).isCompleted();
        assertThat(nodes.line("lost-reply")).hasSize(1);
        assertThat(lock.isAcquired()).isTrue();
        assertThat(lock.release()).isTrue();
        assertThat(nodes.line("lost-reply")).isEmpty();
    }

    @Test
    void givenALineAndTheReplyToCreateIsLost_whenTried_thenItsNodeIsFoundAgainAndUsed() throws Exception {
        Lock before = rivals.createLock("found-again", TTL);
        assertThat(before.tryAcquireShared()).isTrue();
        CompletableFuture<Void> lost = proxy.loseReplyTo("/latchkey/found-again/");
        Lock lock = locks.createLock("found-again", TTL);

        assertThat(lock.tryAcquireShared()).isTrue();

        assertThat(lost).isCompleted();
        assertThat(nodes.line("found-again")).hasSize(2);
        assertThat(lock.release()).isTrue();
        assertThat(nodes.line("found-again")).hasSize(1);
    }

    @Test
    void givenTheRequestToCreateIsLost_whenTried_thenItIsMadeOnce() throws Exception {
        assertThat(rivals.createLock("lost-request", TTL).tryAcquireShared()).isTrue();
        CompletableFuture<Void> lost = proxy.loseRequest("/latchkey/lost-request/");
        Lock lock = locks.createLock("lost-request", TTL);

        assertThat(lock.tryAcquireShared()).isTrue();

        assertThat(lost).isCompleted();
        assertThat(nodes.line("lost-request")).hasSize(2);
    }

    @Test
    void givenTheReplyToDeleteIsLost_whenReleased_thenTrueAndFree() throws Exception {
        Lock lock = locks.createLock("lost-delete", TTL);
        assertThat(lock.tryAcquire()).isTrue();
        CompletableFuture<Void> lost = proxy.loseReplyTo("/latchkey/lost-delete/");

        assertThat(lock.release()).isTrue();

        assertThat(lost).isCompleted();
        assertThat(nodes.line("lost-delete")).isEmpty();
    }

    @Test
    void givenWaiting_whenTheConnectionIsCut_thenItKeepsItsPlaceAndIsGranted() throws Exception {
        Lock holder = rivals.createLock("place", TTL);
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = waiting(locks, "place", 2);
        List<String> line = nodes.line("place");

        proxy.cut();
        Awaitility.await().atMost(LIMIT).until(() -> proxy.connections() == 1);

        assertThat(nodes.line("place")).hasSameElementsAs(line);
        assertThat(holder.release()).isTrue();
        assertThat(waiting.result().isAcquired()).isTrue();
    }

    @Test
    void givenWaiting_whenTheHolderGoesWhileWeAreCutOff_thenGrantedAfterwards() throws Exception {
        Lock holder = rivals.createLock("meanwhile", TTL);
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = waiting(locks, "meanwhile", 2);
        proxy.refuse();
        Awaitility.await().atMost(LIMIT).until(() -> proxy.connections() == 0);

        assertThat(holder.release()).isTrue();
        proxy.heal();

        assertThat(waiting.result().isAcquired()).isTrue();
    }

    @Test
    void givenAClientThatForgetsItsWatches_whenTheHolderGoesWhileWeAreCutOff_thenGrantedAfterwards() throws Exception {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.DISABLE_AUTO_WATCH_RESET, "true");
        Lock holder = rivals.createLock("forgotten", TTL);
        assertThat(holder.tryAcquire()).isTrue();
        ZooKeeper client = new ZooKeeper(proxy.address().toString(), 60_000, event -> {}, config);
        try (ZooKeeperStore forgetful = ZooKeeperStore.builder(client).build()) {
            BackgroundCall<Lock> waiting = waiting(new LockFactory(forgetful), "forgotten", 2);
            proxy.refuse();
            Awaitility.await().atMost(LIMIT).until(() -> proxy.connections() == 0);

            assertThat(holder.release()).isTrue();
            proxy.heal();

            assertThat(waiting.result().isAcquired()).isTrue();
        } finally {
            client.close();
        }
    }

    @Test
    void givenTwoThreadsWaitToPromoteOneKey_whenOneGivesUpAndItIsReleased_thenTheOtherIsTold() throws Exception {
        Lock reader = rivals.createLock("promoted", TTL);
        assertThat(reader.tryAcquireShared()).isTrue();
        Key key = Key.of("promoted");
        Lock one = locks.createLock(key, TTL);
        Lock other = locks.createLock(key, TTL);
        assertThat(one.tryAcquireShared()).isTrue();
        assertThat(other.tryAcquireShared()).isTrue();
        BackgroundCall<Lock> waiting = BackgroundCall.start(other::acquire);
        awaitLine("promoted", 3);
        assertThat(one.tryAcquire(Duration.ofMillis(500))).isFalse();

        assertThat(one.release()).isTrue();

        assertThatThrownBy(waiting::result).isInstanceOf(LockLostException.class);
        assertThat(reader.release()).isTrue();
        awaitLine("promoted", 0);
    }

    @Test
    void givenInterruptedWhileCutOff_whenConnectedAgain_thenNothingIsLeftInLine() throws Exception {
        Lock holder = rivals.createLock("left", TTL);
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = waiting(locks, "left", 2);
        proxy.refuse();
        Awaitility.await().atMost(LIMIT).until(() -> proxy.connections() == 0);

        waiting.interrupt();
        assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
        proxy.heal();

        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(nodes.line("left")).hasSize(1));
    }

    @Test
    void givenNoServer_whenTried_thenAFailureAndNoConflict() {
        proxy.refuse();

        assertThatThrownBy(() -> locks.createLock("nobody").tryAcquire())
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining("nobody")
                .hasMessageContaining("no ZooKeeper server answered");
    }

    @Test
    void givenDeletedByAnAdministrator_whenAsked_thenLost() throws Exception {
        Lock lock = locks.createLock("deleted", TTL);
        assertThat(lock.tryAcquire()).isTrue();
        nodes.client().delete("/latchkey/deleted/" + nodes.line("deleted").get(0), -1);

        assertThat(lock.isAcquired()).isFalse();

        assertThat(rivals.createLock("deleted").tryAcquire()).isTrue();
    }
}
