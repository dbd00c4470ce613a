package dev.latchkey.shedlock;

import java.time.Duration;
import net.javacrumbs.shedlock.core.LockConfiguration;

/**
 * How long a lock is to be held, on the monotonic clock: ShedLock counts from a wall clock, which may be set.
 *
 * @param start the {@link System#nanoTime()} before the store was asked for the lock
 * @param minHoldBy who keeps a lock that is unlocked before its {@code lockAtLeastFor}, if that is a second or more
 */
record Term(Duration atMost, Duration atLeast, long start, MinHoldBy minHoldBy) {

    /** Who keeps an unlocked lock for the rest of its {@code lockAtLeastFor}. */
    enum MinHoldBy {
        /** The store, which has leases. */
        STORE,
        /** This process. */
        PROCESS
    }

    /** A lease of less may be over before the store has answered. What is to be shorter is ended by this process. */
    private static final Duration SHORTEST_TTL = Duration.ofSeconds(1);

    static Term startingNow(LockConfiguration configuration, MinHoldBy minHoldBy) {
        return new Term(
                configuration.getLockAtMostFor(), configuration.getLockAtLeastFor(), System.nanoTime(), minHoldBy);
    }

    Duration ttl() {
        return atMost.compareTo(SHORTEST_TTL) < 0 ? SHORTEST_TTL : atMost;
    }

    /** What the store is told to keep. */
    Duration minHold() {
        return isKeptHere() ? Duration.ZERO : atLeast;
    }

    /** For how long this process has still to keep an unlocked lock. */
    Duration restToKeep() {
        return isKeptHere() ? rest(atLeast) : Duration.ZERO;
    }

    /** For how long the store, which was told to, has still to keep an unlocked lock. */
    Duration restKeptByStore() {
        return isKeptHere() ? Duration.ZERO : rest(atLeast);
    }

    /** A store may round a shorter time up to a second or two. */
    private boolean isKeptHere() {
        return minHoldBy == MinHoldBy.PROCESS || atLeast.compareTo(SHORTEST_TTL) < 0;
    }

    Duration rest() {
        return rest(atMost);
    }

    /** Zero when it is over. */
    private Duration rest(Duration whole) {
        Duration rest = whole.minusNanos(System.nanoTime() - start);
        return rest.isNegative() ? Duration.ZERO : rest;
    }
}
