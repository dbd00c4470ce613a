package dev.latchkey.reentrant;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * A read lock and a write lock of one resource, both reentrant. Readers hold it together; a writer holds it alone, among all
 * threads of all processes.
 *
 * <ul>
 * <li>A writer may acquire the read lock as well. When it unlocks the write lock first, its hold is demoted without a gap.
 * <li>A reader may acquire the write lock, which promotes its hold when the other readers are gone. If another reader already
 *     waits for that, which would be a deadlock, the call throws a {@link dev.latchkey.LockConflictedException} with
 *     {@link dev.latchkey.LockConflictedException.Reason#PROMOTION_REFUSED}, and {@code tryLock} returns false.
 * </ul>
 *
 * <p>{@link ReentrantLocks#readWriteLock} returns it. Thread-safe.
 */
public final class ThreadOwnedReadWriteLock implements ReadWriteLock {

    private final ThreadOwnedLock readLock;
    private final ThreadOwnedLock writeLock;

    ThreadOwnedReadWriteLock(ThreadOwnedLock readLock, ThreadOwnedLock writeLock) {
        this.readLock = readLock;
        this.writeLock = writeLock;
    }

    @Override
    public ThreadOwnedLock readLock() {
        return readLock;
    }

    @Override
    public ThreadOwnedLock writeLock() {
        return writeLock;
    }
}
