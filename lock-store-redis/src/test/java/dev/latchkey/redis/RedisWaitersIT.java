package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What waiting costs the server and this process, counted where it does not depend on the machine. */
class RedisWaitersIT {

    private static final Duration TTL = Duration.ofMinutes(5);
    private static final String RESOURCE = "report";
    private static final int CYCLES = 100;

    private RedisServer server;
    private RedisKeys keys;
    private LockFactory locks;

    @BeforeEach
    void connect() {
        server = RedisServer.start();
        keys = new RedisKeys(server);
        locks = LockFactory.connect(PatientDsn.redis(server.dsn()));
        keys.subscribe(locks.createLock(RESOURCE, TTL));
    }

    @AfterEach
    void end() {
        locks.close();
        server.close();
    }

    private static long all(Map<String, Long> commands) {
        return commands.values().stream().mapToLong(Long::longValue).sum();
    }

    @Test
    void givenManyThreads_whenTheyTakeItInTurn_thenElevenExecutedPerCycleInAll() throws Exception {
        int threads = 8;
        Lock opener = locks.createLock(RESOURCE, TTL);
        assertThat(opener.tryAcquire()).isTrue();
        List<BackgroundCall<Integer>> calls = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            calls.add(BackgroundCall.start(() -> cycles(CYCLES)));
        }
        Awaitility.await().until(() -> keys.listening().size() == threads);
        keys.resetCommands();
        assertThat(opener.release()).isTrue();

        for (BackgroundCall<Integer> call : calls) {
            assertThat(call.result()).isEqualTo(CYCLES);
        }

        // The first ones to come and the last ones to go have it a little dearer.
        Map<String, Long> commands = keys.commands();
        assertThat(all(commands)).as("%s", commands).isLessThanOrEqualTo(11L * threads * CYCLES + 10L * threads);
    }

    private int cycles(int count) throws InterruptedException {
        Lock lock = locks.createLock(RESOURCE, TTL);
        for (int i = 0; i < count; i++) {
            lock.acquire();
            if (!lock.release()) {
                return i;
            }
        }
        return count;
    }

    @Test
    void givenAnIdleWaiter_whenItWaits_thenItSendsAtMostOneCommandEverySeveralSeconds() throws Exception {
        Lock holder = locks.createLock(RESOURCE, TTL);
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting =
                BackgroundCall.start(() -> locks.createLock(RESOURCE, TTL).acquire());
        Awaitility.await().until(() -> keys.listening().size() == 1);
        long start = System.nanoTime();
        keys.resetCommands();

        Awaitility.await()
                .during(Duration.ofSeconds(12))
                .atMost(TimeLimits.LIMIT)
                .pollInterval(Duration.ofMillis(500))
                .untilAsserted(() -> assertThat(keys.commands().getOrDefault("evalsha", 0L))
                        .isLessThanOrEqualTo(1 + Looks.since(start)));

        assertThat(waiting.isDone()).isFalse();
        assertThat(holder.release()).isTrue();
        assertThat(waiting.result().release()).isTrue();
    }

    @Test
    void givenAThousandWaiters_whenTheyWait_thenOnePairOfConnectionsAndNoThreadsAndEachGetsItsTurn() throws Exception {
        int waiters = 1_000;
        Lock holder = locks.createLock(RESOURCE, TTL);
        assertThat(holder.tryAcquire()).isTrue();
        // Whatever the first wait opens is there before it is counted.
        assertThat(locks.createLock(RESOURCE, TTL).tryAcquire(Duration.ofMillis(50)))
                .isFalse();
        int threadsBefore = Thread.activeCount();
        ConcurrentLinkedQueue<Integer> order = new ConcurrentLinkedQueue<>();
        List<BackgroundCall<Boolean>> calls = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            int number = i;
            calls.add(BackgroundCall.start(() -> {
                Lock lock = locks.createLock(RESOURCE, TTL).acquire();
                order.add(number);
                return lock.release();
            }));
        }
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> keys.listening().size() == waiters);

        assertThat(connections()).isEqualTo(2);
        // A few more, for what is started when first needed, whoever needs it.
        assertThat(Thread.activeCount() - threadsBefore).isLessThanOrEqualTo(waiters + 4);
        long start = System.nanoTime();
        keys.resetCommands();
        Awaitility.await()
                .during(Duration.ofSeconds(6))
                .atMost(TimeLimits.LIMIT)
                .pollInterval(Duration.ofMillis(500))
                .untilAsserted(() -> assertThat(keys.commands().getOrDefault("evalsha", 0L))
                        .as("two safety polls each at the most, or one every five seconds")
                        .isLessThanOrEqualTo(waiters * Math.max(2, 1 + Looks.since(start))));
        assertThat(holder.release()).isTrue();
        for (BackgroundCall<Boolean> call : calls) {
            assertThat(call.result()).isTrue();
        }
        assertThat(order).hasSize(waiters).doesNotHaveDuplicates();
        assertThat(keys.held()).isEmpty();
        assertThat(keys.withoutTtl()).isEmpty();
    }

    /** Those of the store: all but the one that asks. */
    private long connections() {
        return server.text("CLIENT", "LIST").lines().count() - 1;
    }
}
