package dev.latchkey;

/** What a store can do or not, to be asked with {@link LockFactory#supports} before something is asked for that needs it. */
public enum Capability {
    /**
     * A hold ends by itself when its TTL is over. {@link LockBuilder#minHold} and {@link Lock#refresh(java.time.Duration,
     * java.time.Duration)} with a min hold need it. Where it is missing, the TTL counts for nothing.
     */
    LEASES,
    /** Readers share. Where it is missing, {@link Lock#acquireShared()} and its kin take the lock exclusively. */
    SHARING,
    /** {@link LockFactory#holders} can tell who holds a lock. Where it is missing, it throws. */
    HOLDERS,
    /** Keys can be serialized and used in another process. Where it is missing, {@link Key#serialize()} throws. */
    TRAVELLING_KEYS
}
