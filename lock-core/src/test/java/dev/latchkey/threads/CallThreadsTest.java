package dev.latchkey.threads;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** On Java 17 calls share few threads, and wait for none that is stuck. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class CallThreadsTest {

    private static final int MANY = 5_000;
    private static final int FEW = 200;

    private final Executor threads = CallThreads.platformThreads(CallThreadsTest::daemon);

    @Test
    void givenThousandsOfShortCalls_whenTheyBeginAtOnce_thenAllRunOnFewThreads() throws Exception {
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        CountDownLatch ended = new CountDownLatch(MANY);

        for (int i = 0; i < MANY; i++) {
            threads.execute(() -> {
                used.add(Thread.currentThread());
                LockSupport.parkNanos(100_000);
                ended.countDown();
            });
        }

        assertThat(ended.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(used).hasSizeLessThan(FEW);
    }

    @Test
    void givenHundredsOfCallsThatDoNotReturn_whenAnotherBegins_thenItRuns() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch inside = new CountDownLatch(300);
        CountDownLatch ran = new CountDownLatch(1);
        try {
            for (int i = 0; i < 300; i++) {
                threads.execute(() -> {
                    inside.countDown();
                    awaitQuietly(end);
                });
            }
            threads.execute(ran::countDown);

            assertThat(ran.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(inside.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } finally {
            end.countDown();
        }
    }

    @Test
    void givenCallsThatHaveEnded_whenNothingElseBegins_thenTheirThreadsEnd() throws Exception {
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        CountDownLatch ended = new CountDownLatch(100);
        for (int i = 0; i < 100; i++) {
            threads.execute(() -> {
                used.add(Thread.currentThread());
                ended.countDown();
            });
        }
        assertThat(ended.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

        Awaitility.await().atMost(LIMIT).until(() -> used.stream().noneMatch(Thread::isAlive));

        CountDownLatch again = new CountDownLatch(1);
        threads.execute(again::countDown);
        assertThat(again.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    /** Who looks if the threads are stuck may run out of memory while it does. */
    @Test
    void givenALookThatFails_whenAnotherCallBegins_thenThereAreMoreThreadsForAllThatWait() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        Executor few = new CallThreads(
                new ThreadPoolExecutor(
                        1, 8, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), CallThreadsTest::daemon) {
                    @Override
                    public long getCompletedTaskCount() {
                        // The first is for the call that is to wait.
                        if (looks.incrementAndGet() == 2) {
                            throw new OutOfMemoryError("Java heap space (planted)");
                        }
                        return super.getCompletedTaskCount();
                    }
                });
        CountDownLatch end = new CountDownLatch(1);
        AtomicBoolean ran = new AtomicBoolean();
        try {
            few.execute(() -> awaitQuietly(end));
            few.execute(() -> ran.set(true));
            Awaitility.await().atMost(LIMIT).until(() -> looks.get() >= 2);

            Awaitility.await().atMost(LIMIT).until(() -> {
                few.execute(() -> {});
                return ran.get();
            });
        } finally {
            end.countDown();
        }
    }

    private static Thread daemon(Runnable task) {
        return new DaemonThreads().make(task, "latchkey-async");
    }

    private static void awaitQuietly(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
