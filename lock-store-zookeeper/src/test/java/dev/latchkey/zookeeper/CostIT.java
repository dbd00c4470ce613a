package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.ZooKeeperServer;
import dev.latchkey.testkit.BackgroundCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What it costs the server, by the packets that it counts. */
class CostIT {

    /** Long enough that nothing but what the tests do is sent while they do it. */
    private static final String LONG_SESSION = "?sessionTimeout=400s";

    private static ZooKeeperServer server;

    private ZooKeeperStore store;
    private LockFactory locks;

    @BeforeAll
    static void start() {
        // It does not remove unused lines meanwhile: making one again has its price.
        server = ZooKeeperServer.start("maxSessionTimeout=400000", "znode.container.checkIntervalMs=3600000");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() {
        store = Stores.open(server.address(), LONG_SESSION);
        locks = new LockFactory(store);
        Lock lock = locks.createLock("report");
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.release()).isTrue();
        // Keeps the line there for the next one.
        assertThat(locks.createLock("report").tryAcquireShared()).isTrue();
    }

    @AfterEach
    void close() {
        locks.close();
        store.close();
    }

    @Test
    void givenALine_whenSharedAndReleased_thenThreePackets() {
        Lock lock = locks.createLock("report");

        long packets = packets(() -> {
            assertThat(lock.tryAcquireShared()).isTrue();
            assertThat(lock.release()).isTrue();
        });

        assertThat(packets).isEqualTo(3);
    }

    @Test
    void givenManyCyclesOfThisStoreAlone_thenTwoPacketsEach() {
        Lock first = locks.createLock("cycles");
        assertThat(first.tryAcquire()).isTrue();
        assertThat(first.release()).isTrue();

        List<Long> ofTenCycles = new ArrayList<>();
        for (int round = 0; round < 11; round++) {
            ofTenCycles.add(packets(() -> {
                for (int i = 0; i < 10; i++) {
                    Lock lock = locks.createLock("cycles");
                    assertThat(lock.tryAcquire()).isTrue();
                    assertThat(lock.release()).isTrue();
                }
            }));
        }

        // What the cycle before the first has left to do is counted with that one.
        assertThat(ofTenCycles.subList(1, 11)).containsOnly(20L);
    }

    @Test
    void givenManyCyclesOfThisStoreAlone_whenAnotherComesInBetween_thenItIsSeen() {
        try (ZooKeeperStore other = Stores.open(server.address(), LONG_SESSION)) {
            Lock lock = locks.createLock("alternating");
            Lock rival = new LockFactory(other).createLock("alternating");
            for (int i = 0; i < 5; i++) {
                for (int alone = 0; alone < 4; alone++) {
                    assertThat(lock.tryAcquire()).isTrue();
                    assertThat(lock.release()).isTrue();
                }
                assertThat(rival.tryAcquire()).isTrue();
                long token = rival.fencingToken().orElseThrow();

                assertThat(lock.tryAcquire()).isFalse();

                assertThat(rival.release()).isTrue();
                assertThat(lock.tryAcquire()).isTrue();
                assertThat(lock.fencingToken().orElseThrow()).isGreaterThan(token);
                assertThat(rival.tryAcquireShared()).isFalse();
                assertThat(lock.release()).isTrue();
            }
        }
    }

    @Test
    void givenALine_whenRefused_thenThreePackets() {
        Lock rival = locks.createLock("report");

        long packets = packets(() -> assertThat(rival.tryAcquire()).isFalse());

        assertThat(packets).isEqualTo(3);
    }

    @Test
    void givenOneOfThisStoreHolds_whenTheNextWaitsAndIsGranted_thenNothingIsAskedInBetween() throws Exception {
        Lock holder = locks.createLock("handover");
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = locks.createLock("handover");

        long before = server.packetsReceived();
        BackgroundCall<Lock> waiting = BackgroundCall.start(waiter::acquire);
        Awaitility.await().until(() -> store.sessions().forUse("handover").waiting() == 1);
        waiting.awaitWaiting();
        assertThat(holder.release()).isTrue();
        assertThat(waiting.result().release()).isTrue();

        assertThat(since(before)).isEqualTo(4);
    }

    @Test
    void givenWaitersOfAnotherStore_whenIdle_thenNothingIsSentButSignsOfLife() throws Exception {
        Lock holder = locks.createLock("idle");
        assertThat(holder.tryAcquire()).isTrue();
        try (ZooKeeperStore other = Stores.open(server.address(), LONG_SESSION)) {
            LockFactory others = new LockFactory(other);
            List<BackgroundCall<Lock>> waiting = new ArrayList<>();
            for (int i = 0; i < LocalWaitQueue.PLACES; i++) {
                waiting.add(BackgroundCall.start(others.createLock("idle")::acquire));
            }
            Awaitility.await().until(() -> other.sessions().forUse("idle").waiting() == LocalWaitQueue.PLACES);
            waiting.forEach(BackgroundCall::awaitWaiting);
            awaitQuiet();
            long before = server.packetsReceived();

            new CompletableFuture<Void>()
                    .orTimeout(5, TimeUnit.SECONDS)
                    .exceptionally(over -> null)
                    .join();

            // Of two sessions, each with a sign of life in ten seconds.
            assertThat(since(before)).isLessThanOrEqualTo(2);
            waiting.forEach(BackgroundCall::interrupt);
            Awaitility.await().until(() -> waiting.stream().allMatch(BackgroundCall::isDone));
        }
    }

    private Lock sticky(String resource) {
        return locks.lock(resource)
                .ttl(Duration.ofSeconds(30))
                .sticky(Duration.ofSeconds(30))
                .create();
    }

    private static long cycle(Lock lock) {
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        assertThat(lock.release()).isTrue();
        return token;
    }

    @Test
    void givenALine_whenAStickyLockIsAcquired_thenOnePacketMoreThanForAnotherBeforeTheNextIsAnswered() {
        Lock lock = locks.lock("report").sticky(Duration.ofSeconds(30)).create();

        long packets = packets(() -> {
            assertThat(lock.tryAcquireShared()).isTrue();
            assertThat(lock.isAcquired()).isTrue();
        });

        assertThat(packets).isEqualTo(2 + 1 + 2);
    }

    /** Two packets for the release and the next acquire, and one for the watch, whenever the tokens are used up. */
    @Test
    void givenKept_whenUsed_thenNoPacketsButForMoreTokens() {
        Lock lock = sticky("kept");
        long first = cycle(lock);
        AtomicLong last = new AtomicLong(first);
        awaitQuiet();

        assertThat(packets(() -> {
                    for (int i = 0; i < FencingTokens.RESERVED; i++) {
                        last.set(cycle(lock));
                    }
                }))
                .isZero();
        assertThat(last.get()).isEqualTo(first + FencingTokens.RESERVED);

        assertThat(packets(() -> assertThat(cycle(lock)).isGreaterThan(last.get())))
                .isBetween(2L, 5L);
    }

    @Test
    void givenKept_whenIdle_thenNothingIsSentButSignsOfLife() {
        long token = cycle(sticky("idle-kept"));
        assertThat(token).isPositive();
        awaitQuiet();
        long before = server.packetsReceived();

        new CompletableFuture<Void>()
                .orTimeout(5, TimeUnit.SECONDS)
                .exceptionally(over -> null)
                .join();

        assertThat(since(before)).isLessThanOrEqualTo(1);
    }

    /** The first has it recalled, waits for that and is refused; the next one has only its refusal. */
    @Test
    void givenInUse_whenTriedAgain_thenOnePacketMoreThanForAnother() {
        Lock lock = sticky("in-use");
        assertThat(lock.tryAcquire()).isTrue();
        Lock rival = locks.createLock("in-use");
        assertThat(rival.tryAcquire()).isFalse();
        awaitQuiet();

        long packets = packets(() -> assertThat(rival.tryAcquire()).isFalse());

        assertThat(packets).isEqualTo(4);
    }

    private static void awaitQuiet() {
        AtomicLong last = new AtomicLong();
        Awaitility.await().pollInterval(Duration.ofMillis(300)).until(() -> {
            long now = server.packetsReceived();
            return now - last.getAndSet(now) == 1;
        });
    }

    private static long packets(Runnable work) {
        long before = server.packetsReceived();
        work.run();
        return since(before);
    }

    /** Without the question itself, which the server counts as well. */
    private static long since(long before) {
        return server.packetsReceived() - before - 1;
    }
}
