package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.RemoteLock;
import dev.latchkey.testkit.SecondProcess;
import dev.latchkey.testkit.TimeLimits;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Sessions that end, or may have ended, and processes that stand still. */
class SessionFaultsIT extends BesideRivals {

    @Test
    void givenHeld_whenTheNetworkIsSilent_thenTheHolderKnowsBeforeARivalHolds() throws Exception {
        List<String> events = new CopyOnWriteArrayList<>();
        Lock lock = locks.createLock("silent", TTL);
        lock.onLost(reason -> events.add("lost " + reason));
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        BackgroundCall<Lock> rival = waiting(rivals, "silent", 2);

        proxy.silence();
        Lock taken = rival.result();
        // By the clock: on a busy machine, the thread that tells the holder may come later.
        events.add(lock.isExpired() ? "rival holds" : "both hold");

        Awaitility.await().atMost(LIMIT).untilAsserted(() -> assertThat(events).hasSize(2));
        assertThat(events).containsExactlyInAnyOrder("lost SESSION_LOST", "rival holds");
        assertThat(lock.isExpired()).isTrue();
        assertThat(taken.fencingToken().orElseThrow()).isGreaterThan(token);
    }

    @Test
    void givenLostInSilence_whenConnectedAgain_thenANewSessionAndANewHold() {
        Lock lock = locks.createLock("anew", TTL);
        CompletableFuture<LossReason> told = new CompletableFuture<>();
        lock.onLost(told::complete);
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        proxy.silence();
        Awaitility.await().atMost(LIMIT).until(told::isDone);
        proxy.heal();

        Awaitility.await().atMost(LIMIT).ignoreExceptions().until(lock::tryAcquire);

        assertThat(told.join()).isEqualTo(LossReason.SESSION_LOST);
        assertThat(lock.fencingToken().orElseThrow()).isGreaterThan(token);
    }

    @Test
    void givenHeld_whenTheSessionExpires_thenLostOnceAndNothingOfItIsBelieved() throws Exception {
        List<LossReason> told = new CopyOnWriteArrayList<>();
        Lock lock = locks.createLock("expired", TTL);
        lock.onLost(told::add);
        assertThat(lock.tryAcquire()).isTrue();

        expire(store);

        Awaitility.await().atMost(LIMIT).untilAsserted(() -> assertThat(told).containsExactly(LossReason.SESSION_LOST));
        assertThat(lock.isAcquired()).isFalse();
        assertThatThrownBy(lock::refresh).isInstanceOfAny(LockLostException.class, IllegalStateException.class);
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() ->
                        assertThat(rivals.createLock("expired").tryAcquire()).isTrue());
        assertThat(told).hasSize(1);
    }

    @Test
    void givenWaiting_whenTheSessionExpires_thenItStandsInLineAgain() throws Exception {
        Lock holder = rivals.createLock("again", TTL);
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = waiting(locks, "again", 2);
        List<String> before = nodes.line("again");

        expire(store);
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(nodes.line("again")).hasSize(2).isNotEqualTo(before));

        assertThat(holder.release()).isTrue();
        assertThat(waiting.result().isAcquired()).isTrue();
    }

    @Test
    void givenAReaderWaitsToPromote_whenTheSessionExpires_thenLost() throws Exception {
        // Kept: a hold that nobody can give up any more is given up by the collector.
        Lock reader = rivals.createLock("promoting", TTL);
        assertThat(reader.tryAcquireShared()).isTrue();
        Lock promoter = locks.createLock("promoting", TTL);
        assertThat(promoter.tryAcquireShared()).isTrue();
        BackgroundCall<Lock> waiting = BackgroundCall.start(promoter::acquire);
        awaitLine("promoting", 3);

        expire(store);

        assertThatThrownBy(waiting::result).isInstanceOf(LockLostException.class);
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(nodes.line("promoting")).hasSize(1));
        assertThat(reader.release()).isTrue();
    }

    /** The sessions last long, so that a busy machine does not end them before the freeze, or the rival's after it. */
    @Test
    void givenHolderIsFrozenLongerThanItsSession_whenARivalTakes_thenItsTokenIsGreaterAndTheHolderLearnsIt()
            throws Exception {
        try (SecondProcess other = SecondProcess.connect(server.dsn() + SHORT_SESSION);
                ZooKeeperStore lasting = Stores.open(server.address(), LONG_SESSION)) {
            RemoteLock frozen = other.lock("frozen", TTL);
            assertThat(frozen.tryAcquire()).isTrue();
            long token = frozen.fencingToken().orElseThrow();
            BackgroundCall<Lock> rival = waiting(new LockFactory(lasting), "frozen", 2);

            other.freeze();
            Lock taken = rival.result();
            other.thaw();

            assertThat(taken.fencingToken().orElseThrow()).isGreaterThan(token);
            Awaitility.await().atMost(LIMIT).until(() -> !frozen.isAcquired());
            assertThat(taken.isAcquired()).isTrue();
        }
    }

    /** Whether a server has heard of its session lately is not known: that is proven first, and nobody is told of it. */
    @Test
    void givenAProcessStoodStillWithNothingHeld_whenItAcquires_thenItHolds() {
        String dsn = server.dsn() + SHORT_SESSION;
        try (SecondProcess other = SecondProcess.connect(dsn)) {
            RemoteLock lock = other.lock("frozen", TTL);
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(lock.release()).isTrue();

            other.freeze();
            Awaitility.await()
                    .pollDelay(TimeLimits.ttl(SHORT.multipliedBy(2).dividedBy(3)))
                    .until(() -> true);
            other.thaw();

            assertThat(lock.tryAcquire()).isTrue();
            assertThat(rivals.createLock("frozen", TTL).tryAcquire()).isFalse();
            assertThat(lock.isAcquired()).isTrue();
            assertThat(lock.release()).isTrue();
        }
    }
}
