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
 */
record LockTarget(String dsn, String resource, Duration ttl, LockMode mode, Duration maxWait, Keeping keeping) {

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
