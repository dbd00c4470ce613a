package dev.latchkey.cli;

import dev.latchkey.LockMode;
import java.time.Duration;

/**
 * Which lock is wanted, and how.
 *
 * @param dsn the store's
 * @param mode shared or exclusive
 * @param maxWait zero: not at all
 * @param keeping who sees to it that it stays held
 */
record LockTarget(String dsn, String resource, Duration ttl, LockMode mode, Duration maxWait, Keeping keeping) {

    /** Far beyond any patience: "for ever". */
    static final Duration NO_LIMIT = Duration.ofDays(36_500);

    /** Who sees to it that the lock stays held. */
    enum Keeping {
        /** This process, for as long as it runs. */
        REFRESHED,
        /** This process does not: the lease ends with its TTL. */
        NOT_REFRESHED,
        /** Whoever gets the key; refused by a store whose keys cannot travel. */
        HANDED_OVER
    }
}
