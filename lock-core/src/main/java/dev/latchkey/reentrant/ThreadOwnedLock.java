package dev.latchkey.reentrant;

import dev.latchkey.Lock;
import dev.latchkey.LockBuilder;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/**
 * A reentrant lock that belongs to the thread that acquires it, with the methods of
 * {@link java.util.concurrent.locks.ReentrantLock}. {@link ReentrantLocks} returns it.
 *
 * <p>A lease can end while its thread works. The lock is then lost: {@link #unlock()}, and each attempt of the same thread to
 * acquire it once more, throws an {@link IllegalMonitorStateException}, until the thread has unlocked it as often as it had
 * acquired it. To be told sooner, set {@link LockBuilder#onLost} or {@link LockBuilder#interruptOnLoss()} in the options of
 * {@link ReentrantLocks}, or ask {@link #hold()}.
 *
 * <p>To acquire it again costs no request. A store that fails is a {@link LockStorageException}, from every method that
 * acquires or unlocks.
 *
 * <p>Thread-safe.
 */
public final class ThreadOwnedLock implements java.util.concurrent.locks.Lock {

    private static final int LONGEST_SHOWN = 200;

    private final ThreadHolds holds;
    private final String resource;
    private final LockMode mode;
    private final @Nullable Duration ttl;

    ThreadOwnedLock(ThreadHolds holds, String resource, LockMode mode) {
        this(holds, resource, mode, null);
    }

    private ThreadOwnedLock(ThreadHolds holds, String resource, LockMode mode, @Nullable Duration ttl) {
        this.holds = holds;
        this.resource = resource;
        this.mode = mode;
        this.ttl = ttl;
    }

    /**
     * Returns a view of the same lock that acquires it with another TTL. It has no effect on a lock that the thread holds
     * already.
     *
     * @param newTtl as in {@link LockBuilder#ttl}; the first acquire refuses one that is out of range
     * @return a view of the same lock
     */
    public ThreadOwnedLock withTtl(Duration newTtl) {
        return new ThreadOwnedLock(holds, resource, mode, newTtl);
    }

    /**
     * Acquires the lock, and waits without a limit and regardless of interrupts. The interrupt flag is kept.
     *
     * @throws IllegalMonitorStateException if this thread held the lock and lost it, see {@link ThreadOwnedLock}
     * @throws LockConflictedException if the factory was closed during the wait; or if this thread holds the read lock,
     *     wants the write lock, and another reader already waits for that
     * @throws LockStorageException if the store failed or did not answer; nothing more is held than before
     * @throws IllegalArgumentException if the resource is too long or not valid Unicode, or the TTL out of range
     * @throws IllegalStateException if the factory was closed
     */
    @Override
    public void lock() {
        boolean unused = acquired(lock -> {
            boolean isShared = mode == LockMode.SHARED;
            Lock same = isShared ? lock.acquireSharedUninterruptibly() : lock.acquireUninterruptibly();
            return same == lock;
        });
    }

    /**
     * Acquires the lock, and waits without a limit.
     *
     * @throws InterruptedException if the thread was interrupted before or during the call; nothing more is held than before
     * @throws IllegalMonitorStateException if this thread held the lock and lost it, see {@link ThreadOwnedLock}
     * @throws LockConflictedException if the factory was closed during the wait; or if this thread holds the read lock,
     *     wants the write lock, and another reader already waits for that
     * @throws LockStorageException if the store failed or did not answer; nothing more is held than before
     * @throws IllegalArgumentException if the resource is too long or not valid Unicode, or the TTL out of range
     * @throws IllegalStateException if the factory was closed
     */
    @Override
    public void lockInterruptibly() throws InterruptedException {
        checkNotInterrupted();
        boolean unused = acquired(lock -> {
            Lock same = mode == LockMode.SHARED ? lock.acquireShared() : lock.acquire();
            return same == lock;
        });
    }

    /**
     * Acquires the lock if that is possible now, also with the interrupt flag set, which is kept.
     *
     * @return true if this thread holds the lock now
     * @throws IllegalMonitorStateException if this thread held the lock and lost it, see {@link ThreadOwnedLock}
     * @throws LockStorageException if the store failed or did not answer; nothing more is held than before
     * @throws IllegalArgumentException if the resource is too long or not valid Unicode, or the TTL out of range
     * @throws IllegalStateException if the factory was closed
     */
    @Override
    public boolean tryLock() {
        return acquired(lock -> mode == LockMode.SHARED ? lock.tryAcquireShared() : lock.tryAcquire());
    }

    /**
     * Acquires the lock, and waits for it no longer than the given time.
     *
     * @param time how long to wait at most; zero or less tries once
     * @param unit of {@code time}
     * @return true if this thread holds the lock now; false before the time is over only if the factory was closed during the
     *     wait, or if this thread holds the read lock, wants the write lock, and another reader already waits for that
     * @throws InterruptedException if the thread was interrupted before or during the call; nothing more is held than before
     * @throws IllegalMonitorStateException if this thread held the lock and lost it, see {@link ThreadOwnedLock}
     * @throws LockStorageException if the store failed or did not answer; nothing more is held than before
     * @throws IllegalArgumentException if the resource is too long or not valid Unicode, or the TTL out of range
     * @throws IllegalStateException if the factory was closed
     */
    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        checkNotInterrupted();
        Duration maxWait = Duration.ofNanos(Math.max(0, unit.toNanos(time)));
        return acquired(lock -> mode == LockMode.SHARED ? lock.tryAcquireShared(maxWait) : lock.tryAcquire(maxWait));
    }

    /**
     * Unlocks the lock once. With the last time, it is released; with the last time for the write lock of a thread that holds
     * the read lock as well, the hold is demoted.
     *
     * @throws IllegalMonitorStateException if this thread does not hold the lock; or if it has lost it, so that the work since
     *     then was not protected: it counts as unlocked once all the same
     * @throws LockStorageException if the store failed or did not answer; it counts as unlocked once all the same, and what
     *     the store still keeps ends with its TTL
     */
    @Override
    public void unlock() {
        ThreadHold hold = holds.current(resource)
                .filter(held -> held.count(mode) > 0)
                .orElseThrow(() -> new IllegalMonitorStateException("this thread does not hold the " + this));
        hold.subtract(mode);
        if (hold.isEmpty()) {
            holds.remove(resource);
            check(hold.lock().release(), null);
        } else if (hold.count(LockMode.EXCLUSIVE) == 0 && mode == LockMode.EXCLUSIVE) {
            checkHeld(hold);
            demote(hold.lock());
        } else {
            checkHeld(hold);
        }
    }

    /**
     * Not supported: who waits for a condition of another process would have to be woken by it.
     *
     * @return never
     * @throws UnsupportedOperationException always
     */
    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a lock of several processes has no conditions");
    }

    /**
     * Returns how often the current thread has to unlock this lock, whether or not it was lost.
     *
     * @return zero if the thread does not hold it
     */
    public int holdCount() {
        return holds.current(resource).map(hold -> hold.count(mode)).orElse(0);
    }

    /**
     * Returns the hold of the current thread, to renew it, to pass its fencing token on, or to see whether it was lost. Do not
     * release it, which {@link #unlock()} does.
     *
     * @return the one hold, however often it was acquired, of the read lock and the write lock together; empty if the
     *     thread holds neither
     */
    public Optional<Lock> hold() {
        return holds.current(resource).map(ThreadHold::lock);
    }

    /** Returns the resource, shortened and on one line, and whether this is the read lock. */
    @Override
    public String toString() {
        String start = resource.length() <= LONGEST_SHOWN ? resource : resource.substring(0, LONGEST_SHOWN) + "…";
        String name = start.replaceAll("\\p{Cntrl}", "\uFFFD");
        return (mode == LockMode.SHARED ? "read lock \"" : "lock \"") + name + "\"";
    }

    private <E extends Exception> boolean acquired(Acquire<E> acquire) throws E {
        Optional<ThreadHold> current = holds.current(resource);
        current.ifPresent(this::checkHeld);
        if (current.isPresent() && current.get().covers(mode)) {
            current.get().add(mode);
            return true;
        }
        ThreadHold hold = current.orElseGet(() -> new ThreadHold(holds.newOwner(resource, ttl)));
        boolean isAcquired = isGranted(acquire, hold.lock());
        if (isAcquired) {
            hold.add(mode);
            holds.add(resource, hold);
        }
        return isAcquired;
    }

    /** Only a promotion can be lost: what is new was not held before. */
    private <E extends Exception> boolean isGranted(Acquire<E> acquire, Lock lock) throws E {
        try {
            return acquire.with(lock);
        } catch (LockLostException e) {
            check(false, e);
            throw e;
        }
    }

    private void demote(Lock lock) {
        try {
            check(lock.tryAcquireShared(), null);
        } catch (LockLostException e) {
            check(false, e);
        }
    }

    private void checkHeld(ThreadHold hold) {
        check(!hold.lock().isExpired(), null);
    }

    private void check(boolean isHeld, @Nullable Throwable cause) {
        if (!isHeld) {
            var lost = new IllegalMonitorStateException("the " + this + " was lost: others may have held it since");
            lost.initCause(cause);
            throw lost;
        }
    }

    private static void checkNotInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    /** A way to acquire. */
    private interface Acquire<E extends Exception> {

        boolean with(Lock lock) throws E;
    }
}
