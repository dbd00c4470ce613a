package dev.latchkey;

/** A capability that a store may have. Ask with {@link LockFactory#supports} before you call a method that needs it. */
public enum Capability {
    /**
     * A hold ends by itself when its TTL is over. {@link LockBuilder#minHold} and
     * {@link Lock#refresh(java.time.Duration, java.time.Duration)} with a minimum hold time need it. Without it, the TTL
     * has no effect.
     */
    LEASES,
    /**
     * Several readers share a lock. Without it, {@link Lock#acquireShared()} and the other shared methods acquire the
     * lock exclusively.
     */
    SHARING,
    /** {@link LockFactory#holders} can return who holds a lock. Without it, that method throws. */
    HOLDERS,
    /** {@link LockFactory#list} can return what is held. Without it, that method throws. */
    LISTING,
    /** {@link LockFactory#waiters} can return who waits. Without it, that method throws. */
    WAITERS,
    /** {@link LockFactory#forceRelease} can end the hold of somebody else. Without it, that method throws. */
    FORCE_RELEASE,
    /** Keys can be serialized and used in another process. Without it, {@link Key#serialize()} throws. */
    TRAVELLING_KEYS,
    /** {@link LockFactory#semaphore} can create counting semaphores. Without it, that method throws. */
    SEMAPHORES,
    /** {@link LockBuilder#sticky} can keep a lock in its process. Without it, that builder throws. */
    STICKY
}
