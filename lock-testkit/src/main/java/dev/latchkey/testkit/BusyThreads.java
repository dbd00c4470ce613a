package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;

/** Keeps threads of others busy until it is closed. */
final class BusyThreads implements AutoCloseable {

    /** Longer than any wait of the test that keeps them busy. */
    private static final long LIMIT_SECONDS = 5 * TimeLimits.LIMIT.toSeconds();

    private final CountDownLatch end = new CountDownLatch(1);

    /**
     * Keeps all threads busy that run the listeners of a factory.
     *
     * @param resource nobody else's; it is held no more when this returns
     */
    void fillListenersOf(LockFactory locks, String resource) throws InterruptedException {
        CountDownLatch busy = new CountDownLatch(1);
        Lock lost = locks.createLock(resource);
        lost.onLost(reason -> {
            busy.countDown();
            sit();
        });
        assertThat(lost.tryAcquire()).isTrue();
        assertThat(locks.createLock(lost.key(), Fixture.LONG_TTL).release()).isTrue();
        assertThat(lost.isAcquired()).isFalse();
        assertThat(busy.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    /** Leaves no thread of the JVM's common pool to anybody else; what waits there is not made up for by new threads. */
    void fillCommonPool() {
        for (int i = 0; i < 2 * ForkJoinPool.getCommonPoolParallelism(); i++) {
            ForkJoinPool.commonPool().execute(this::sit);
        }
    }

    private void sit() {
        try {
            if (!end.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("nobody ended this within " + LIMIT_SECONDS + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Lets all of them go on. */
    void free() {
        end.countDown();
    }

    @Override
    public void close() {
        free();
    }
}
