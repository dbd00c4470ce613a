package dev.latchkey.cli;

import dev.latchkey.LockMode;
import java.time.Duration;

/**
 * The lock to acquire, and how.
 *
 * @param dsn the store's
 * @param mode shared or exclusive
 * @param maxWait zero: not at all
 * @param keeping who sees to it that it stays held
 * @param permits how many may hold it at the same time; 0 if it is a lock, and not one permit of a semaphore
 */
record LockTarget(
        String dsn, String resource, Duration ttl, LockMode mode, Duration maxWait, Keeping keeping, int permits) {

    LockTarget(String dsn, String resource, Duration ttl, LockMode mode, Duration maxWait, Keeping keeping) {
        this(dsn, resource, ttl, mode, maxWait, keeping, 0);
    }

    /** Returns one permit of as many, in place of the lock. */
    LockTarget ofPermits(int others) {
        return new LockTarget(dsn, resource, ttl, mode, maxWait, keeping, others);
    }

    /** Longer than anybody waits: "for ever". */
    static final Duration NO_LIMIT = Duration.ofDays(36_500);

    /** Who keeps the lock held. */
    enum Keeping {
        /** This process refreshes it for as long as it runs. */
        REFRESHED,
        /** Nobody: the lease ends with its TTL. */
        NOT_REFRESHED,
        /** Whoever gets the key. Refused if keys of the store cannot be transferred. */
        HANDED_OVER
    }
}
