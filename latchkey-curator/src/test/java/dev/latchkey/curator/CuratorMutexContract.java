package dev.latchkey.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.LockFactory;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.TestInterProcessMutexBase;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What Curator expects of its own mutex. Its tests start a ZooKeeper server, which the locks do not use: that it is stopped
 * does not concern them, and that it has no nodes left is no wonder.
 */
abstract class CuratorMutexContract extends TestInterProcessMutexBase {

    private LockFactory locks;

    /** Creates a factory over a store that keeps no session in ZooKeeper. */
    abstract LockFactory connect();

    @BeforeEach
    void open() {
        locks = connect();
    }

    @AfterEach
    void close() {
        locks.close();
    }

    @Override
    protected InterProcessLock makeLock(CuratorFramework client) {
        return new InterProcessLocks(locks).mutex(LOCK_BASE_PATH);
    }

    /**
     * Curator's lets two limits of 10 s run out at the same time, and fails if the holder's is first: the other thread then
     * acquires what it has just released.
     */
    @Test
    @Override
    public void testReentrant2Threads() throws Exception {
        InterProcessLock mutex = new InterProcessLocks(locks).mutex(LOCK_BASE_PATH);
        mutex.acquire();
        mutex.acquire();

        assertThat(BackgroundCall.start(() -> mutex.acquire(10, TimeUnit.MILLISECONDS))
                        .result())
                .isFalse();

        mutex.release();
        assertThat(mutex.isAcquiredInThisProcess()).isTrue();
        mutex.release();
        assertThat(mutex.isAcquiredInThisProcess()).isFalse();
    }

    /** Curator's ends a session of ZooKeeper. What these locks have instead is a lease, which ends when nobody renews it. */
    @Test
    @Override
    public void testKilledSession() throws Exception {
        InterProcessLock second = new InterProcessLocks(locks).mutex(LOCK_BASE_PATH);
        Duration ttl = TimeLimits.ttl(Duration.ofSeconds(3));
        long start = System.nanoTime();
        InterProcessLock first = acquiredUnrenewed(ttl);
        boolean isRefused = !second.acquire(0, TimeUnit.MILLISECONDS);
        while (!isRefused && System.nanoTime() - start > ttl.toNanos()) {
            // It was over before the machine got to it.
            second.release();
            ttl = ttl.multipliedBy(2);
            start = System.nanoTime();
            first = acquiredUnrenewed(ttl);
            isRefused = !second.acquire(0, TimeUnit.MILLISECONDS);
        }
        assertThat(isRefused).isTrue();

        assertThat(second.acquire(TimeLimits.LIMIT.toMillis(), TimeUnit.MILLISECONDS))
                .isTrue();

        assertThat(first.isAcquiredInThisProcess()).isFalse();
        assertThatThrownBy(first::release).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(second.isAcquiredInThisProcess()).isTrue();
        second.release();
    }

    private InterProcessLock acquiredUnrenewed(Duration ttl) throws Exception {
        var unrenewed = new InterProcessLocks(path -> locks.lock(path).ttl(ttl));
        InterProcessLock acquired = unrenewed.mutex(LOCK_BASE_PATH);
        acquired.acquire();
        return acquired;
    }
}
