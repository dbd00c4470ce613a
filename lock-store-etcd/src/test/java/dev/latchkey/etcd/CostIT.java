package dev.latchkey.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.EtcdServer;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What it costs the server, by the requests that it counts. */
class CostIT {

    private static EtcdServer server;

    private LockFactory locks;

    @BeforeAll
    static void start() {
        server = EtcdServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** A long TTL, so that its lease serves throughout a test. */
    @BeforeEach
    void open() {
        locks = LockFactory.connect(PatientDsn.etcd(server.dsn()));
        Lock lock = lock("first");
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.release()).isTrue();
    }

    @AfterEach
    void close() {
        locks.close();
    }

    private Lock lock(String resource) {
        return locks.createLock(resource, Duration.ofHours(1));
    }

    @Test
    void givenALease_whenManyLocksAreAcquiredAndReleased_thenTwoRequestsEach() {
        long requests = requests(() -> {
            for (int i = 0; i < 100; i++) {
                Lock lock = lock("cycle-" + i % 10);
                assertThat(lock.tryAcquire()).isTrue();
                assertThat(lock.release()).isTrue();
            }
        });

        assertThat(requests).isEqualTo(200);
    }

    @Test
    void givenAnotherTtl_whenAcquired_thenOneMoreForItsLease() {
        Lock lock = locks.createLock("report", Duration.ofMinutes(30));

        assertThat(requests(() -> assertThat(lock.tryAcquire()).isTrue())).isEqualTo(2);
    }

    @Test
    void givenHeld_whenTriedByAnother_thenOneRequest() {
        assertThat(lock("tried").tryAcquire()).isTrue();

        assertThat(requests(() -> assertThat(lock("tried").tryAcquire()).isFalse()))
                .isEqualTo(1);
    }

    @Test
    void givenHeld_whenRefreshed_thenTwoRequests() {
        Lock lock = lock("refreshed");
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(requests(lock::refresh)).isEqualTo(2);
    }

    @Test
    void givenHeld_whenAskedFor_thenOneRequest() {
        Lock lock = lock("asked");
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(requests(() -> assertThat(lock.isAcquired()).isTrue())).isEqualTo(1);
    }

    /** Each is woken by the one before it alone: a look when that one becomes the holder, a grant, a release. */
    @Test
    void givenManyWait_whenEachReleases_thenTheirRequestsGrowWithTheirNumberAndNotWithItsSquare() throws Exception {
        int waiters = 20;
        Lock holder = lock("queue");
        assertThat(holder.tryAcquire()).isTrue();
        List<BackgroundCall<Boolean>> waiting = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            waiting.add(BackgroundCall.start(() -> lock("queue").acquire().release()));
        }
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> locks.waiters("queue").size() == waiters && server.watchers() == 1);

        long beganNanos = System.nanoTime();
        long requests = requests(() -> {
            assertThat(holder.release()).isTrue();
            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> waiting.stream().allMatch(BackgroundCall::isDone));
        });

        long looks = (System.nanoTime() - beganNanos) / QueueWait.LOOK_NANOS * waiters;
        for (BackgroundCall<Boolean> one : waiting) {
            assertThat(one.result()).isTrue();
        }
        // The rest is left to the looks of those who wait for longer than two seconds on a busy machine.
        assertThat(requests).isBetween(2L * waiters, 5L * waiters + 2 * looks);
    }

    private static long requests(Runnable work) {
        long before = server.requests();
        work.run();
        return server.requests() - before;
    }
}
