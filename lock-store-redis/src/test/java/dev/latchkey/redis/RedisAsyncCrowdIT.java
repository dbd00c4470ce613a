package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.testkit.TimeLimits;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many wait in one JVM, and none of them has a thread. */
@Tag("slow")
class RedisAsyncCrowdIT extends WithAStore {

    private static final int WAITERS = 10_000;
    private static final int FEW_THREADS = 50;

    @Test
    void givenTenThousandWait_whenEachReleasesAfterTheOther_thenEachHasHeldAloneAndFewThreadsWereThere()
            throws Exception {
        Lock holder = locks.createLock("crowd", LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        int threadsBefore = threads();
        AtomicInteger inside = new AtomicInteger();
        List<CompletableFuture<Integer>> waiting = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            waiting.add(locks.createLock("crowd", LONG_TTL)
                    .acquireAsync(LONG_TTL)
                    .thenCompose(lock -> released(lock, inside)));
        }
        Awaitility.await("all to wait, each once it is in the queue without a thread")
                .atMost(TimeLimits.LIMIT.multipliedBy(2))
                .pollInterval(Duration.ofMillis(500))
                .until(() -> {
                    assertThat(waiting).noneMatch(CompletableFuture::isDone);
                    return keys.listening().size() == WAITERS && threads() - threadsBefore <= FEW_THREADS;
                });

        long start = System.nanoTime();
        assertThat(holder.release()).isTrue();
        for (CompletableFuture<Integer> wait : waiting) {
            assertThat(wait.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isZero();
        }

        System.out.printf(
                "%d waiters, %d threads while they waited, drained in %d ms%n",
                WAITERS, threads() - threadsBefore, (System.nanoTime() - start) / 1_000_000);
    }

    private static CompletableFuture<Integer> released(Lock lock, AtomicInteger inside) {
        int others = inside.getAndIncrement();
        inside.decrementAndGet();
        return lock.releaseAsync().thenApply(wasHeld -> wasHeld ? others : -1);
    }

    private static int threads() {
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }
}
