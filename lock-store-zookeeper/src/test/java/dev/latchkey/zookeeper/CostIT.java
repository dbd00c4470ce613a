package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What it costs the server, by the packets that it counts. */
@Timeout(120)
class CostIT {

    /** Long enough that nothing but what the tests do is sent while they do it. */
    private static final String LONG_SESSION = "?sessionTimeout=40000";

    private static ZooKeeperServer server;

    private ZooKeeperStore store;
    private LockFactory locks;

    @BeforeAll
    static void start() {
        server = ZooKeeperServer.start("maxSessionTimeout=60000");
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
    void givenManyCycles_whenExclusive_thenThreePacketsEach() {
        Lock first = locks.createLock("cycles");
        assertThat(first.tryAcquire()).isTrue();
        assertThat(first.release()).isTrue();

        long packets = packets(() -> {
            for (int i = 0; i < 100; i++) {
                Lock lock = locks.createLock("cycles");
                assertThat(lock.tryAcquire()).isTrue();
                assertThat(lock.release()).isTrue();
            }
        });

        // The server may remove the unused line in between: it is made again.
        assertThat(packets).isBetween(300L, 330L);
    }

    @Test
    void givenALine_whenRefused_thenThreePackets() {
        Lock rival = locks.createLock("report");

        long packets = packets(() -> assertThat(rival.tryAcquire()).isFalse());

        assertThat(packets).isEqualTo(3);
    }

    @Test
    void givenOneOfThisStoreHolds_whenTheNextWaitsAndIsGranted_thenThreePacketsEach() throws Exception {
        Lock holder = locks.createLock("handover");
        assertThat(holder.tryAcquire()).isTrue();

        long before = server.packetsReceived();
        Lock waiter = locks.createLock("handover");
        BackgroundCall<Lock> waiting = BackgroundCall.start(waiter::acquire);
        Awaitility.await()
                .untilAsserted(() -> assertThat(server.packetsReceived() - before).isGreaterThanOrEqualTo(2));
        waiting.awaitWaiting();
        assertThat(holder.release()).isTrue();
        assertThat(waiting.result().release()).isTrue();

        assertThat(withoutQuestions(server.packetsReceived() - before)).isEqualTo(4);
    }

    @Test
    void givenWaitersOfAnotherStore_whenIdle_thenNothingIsSentButSignsOfLife() throws Exception {
        Lock holder = locks.createLock("idle");
        assertThat(holder.tryAcquire()).isTrue();
        try (ZooKeeperStore other = Stores.open(server.address(), LONG_SESSION)) {
            LockFactory others = new LockFactory(other);
            List<BackgroundCall<Lock>> waiting = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                BackgroundCall<Lock> call = BackgroundCall.start(others.createLock("idle")::acquire);
                call.awaitWaiting();
                waiting.add(call);
            }
            try (Nodes nodes = Nodes.of(server.dsn())) {
                Awaitility.await()
                        .untilAsserted(() -> assertThat(nodes.line("idle")).hasSize(21));
            }
            long before = settled();

            // Two stores, each with a sign of life in ten seconds.
            Awaitility.await()
                    .during(Duration.ofSeconds(4))
                    .atMost(Duration.ofSeconds(30))
                    .pollInterval(Duration.ofSeconds(1))
                    .until(() -> server.packetsReceived() - before <= 2 + 30);
            others.close();
            for (BackgroundCall<Lock> call : waiting) {
                call.end();
            }
        }
    }

    private static long settled() {
        return Awaitility.await()
                .pollInterval(Duration.ofMillis(300))
                .until(
                        new java.util.concurrent.Callable<Long>() {
                            private long last = -1;

                            @Override
                            public Long call() {
                                long now = server.packetsReceived();
                                boolean quiet = now - last <= 1;
                                last = now;
                                return quiet ? now : -1L;
                            }
                        },
                        packets -> packets >= 0);
    }

    private static long packets(Runnable work) {
        long before = server.packetsReceived();
        work.run();
        return withoutQuestions(server.packetsReceived() - before);
    }

    /** The question itself is counted neither before nor after. */
    private static long withoutQuestions(long packets) {
        return packets;
    }
}
