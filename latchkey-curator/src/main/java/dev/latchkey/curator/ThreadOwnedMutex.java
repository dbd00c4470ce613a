package dev.latchkey.curator;

import dev.latchkey.Lock;
import dev.latchkey.reentrant.ThreadOwnedLock;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessLock;

/** A reentrant lock with the methods of Curator, which also knows whether any thread of the process holds it. */
final class ThreadOwnedMutex implements InterProcessLock {

    private final ThreadOwnedLock lock;

    /** What threads of this process hold by this object. */
    private final Map<Thread, Lock> held = new ConcurrentHashMap<>();

    ThreadOwnedMutex(ThreadOwnedLock lock) {
        this.lock = lock;
    }

    @Override
    public void acquire() throws InterruptedException {
        lock.lockInterruptibly();
        note();
    }

    @Override
    public boolean acquire(long time, TimeUnit unit) throws InterruptedException {
        boolean isAcquired = lock.tryLock(time, unit);
        note();
        return isAcquired;
    }

    @Override
    public void release() {
        try {
            lock.unlock();
        } finally {
            note();
        }
    }

    @Override
    public boolean isAcquiredInThisProcess() {
        return held.values().stream().anyMatch(hold -> !hold.isExpired());
    }

    @Override
    public String toString() {
        return lock.toString();
    }

    private void note() {
        Thread thread = Thread.currentThread();
        if (lock.holdCount() == 0) {
            held.remove(thread);
        } else {
            lock.hold().ifPresent(hold -> held.put(thread, hold));
        }
    }
}
