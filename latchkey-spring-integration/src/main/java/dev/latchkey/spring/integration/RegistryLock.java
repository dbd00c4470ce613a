package dev.latchkey.spring.integration;

import dev.latchkey.LockStorageException;
import dev.latchkey.reentrant.ThreadOwnedLock;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.integration.support.locks.DistributedLock;

/** A reentrant lock that fails as those of Spring Integration do. */
record RegistryLock(ThreadOwnedLock view) implements DistributedLock {

    @Override
    public void lock() {
        boolean unused = acquired(() -> {
            view.lock();
            return true;
        });
    }

    @Override
    public void lock(Duration ttl) {
        new RegistryLock(view.withTtl(ttl)).lock();
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        boolean unused = acquired(() -> {
            view.lockInterruptibly();
            return true;
        });
    }

    @Override
    public boolean tryLock() {
        return acquired(view::tryLock);
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return this.<InterruptedException>acquired(() -> view.tryLock(time, unit));
    }

    @Override
    public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
        return new RegistryLock(view.withTtl(ttl))
                .tryLock(TimeUnit.NANOSECONDS.convert(waitTime), TimeUnit.NANOSECONDS);
    }

    @Override
    public void unlock() {
        if (view.holdCount() == 0) {
            throw new IllegalStateException("You do not own " + view);
        }
        try {
            view.unlock();
        } catch (IllegalMonitorStateException e) {
            throw new ConcurrentModificationException(
                    "The integrity of data protected by this lock may have been compromised: " + e.getMessage(), e);
        } catch (LockStorageException e) {
            throw new DataAccessResourceFailureException("Failed to release " + view, e);
        }
    }

    @Override
    public Condition newCondition() {
        return view.newCondition();
    }

    @Override
    public String toString() {
        return view.toString();
    }

    private <E extends Exception> boolean acquired(Acquire<E> acquire) throws E {
        try {
            return acquire.isAcquired();
        } catch (RuntimeException e) {
            throw new CannotAcquireLockException("Failed to acquire " + view, e);
        }
    }

    /** A way to acquire. */
    private interface Acquire<E extends Exception> {

        boolean isAcquired() throws E;
    }
}
