package dev.latchkey.reentrant;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/** Takes the lock of an old library and that of a new one, always in this order. */
record BothLocks(Lock old, ThreadOwnedLock latest) implements Lock {

    @Override
    public void lock() {
        old.lock();
        boolean unused = both(() -> {
            latest.lock();
            return true;
        });
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        old.lockInterruptibly();
        boolean unused = both(() -> {
            latest.lockInterruptibly();
            return true;
        });
    }

    @Override
    public boolean tryLock() {
        return old.tryLock() && both(latest::tryLock);
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        long start = System.nanoTime();
        long maxWait = unit.toNanos(time);
        return old.tryLock(maxWait, TimeUnit.NANOSECONDS)
                && this.<InterruptedException>both(
                        () -> latest.tryLock(maxWait - (System.nanoTime() - start), TimeUnit.NANOSECONDS));
    }

    @Override
    public void unlock() {
        if (latest.holdCount() == 0) {
            throw new IllegalMonitorStateException("this thread does not hold the " + latest);
        }
        try {
            latest.unlock();
        } catch (RuntimeException | Error e) {
            unlockOld(e);
            throw e;
        }
        old.unlock();
    }

    @Override
    public Condition newCondition() {
        return latest.newCondition();
    }

    /** The old one is held, and is kept only with the new one. */
    private <E extends Exception> boolean both(Second<E> second) throws E {
        boolean isAcquired;
        try {
            isAcquired = second.isAcquired();
        } catch (Throwable e) {
            unlockOld(e);
            throw e;
        }
        if (!isAcquired) {
            old.unlock();
        }
        return isAcquired;
    }

    private void unlockOld(Throwable failure) {
        try {
            old.unlock();
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    /** A way to acquire the new lock. */
    private interface Second<E extends Exception> {

        boolean isAcquired() throws E;
    }
}
