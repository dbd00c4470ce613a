package dev.latchkey.etcd;

import java.time.Duration;
import java.util.Optional;

/**
 * A lease for all holds that this store acquires within a short time with about the same TTL. It is never renewed.
 *
 * @param id of the server
 * @param sinceNanos before it was asked for
 * @param length how long the server keeps it at least, from then on
 */
record ClassLease(long id, long sinceNanos, Duration length) {

    boolean lasts(long fromNanos, Duration ttl) {
        return endNanos() - fromNanos >= ttl.toNanos();
    }

    /** A TTL, or what is left of the lease if that is less. */
    Duration within(long fromNanos, Duration ttl) {
        return lasts(fromNanos, ttl) ? ttl : Duration.ofNanos(Math.max(0, endNanos() - fromNanos));
    }

    long endNanos() {
        return sinceNanos + length.toNanos();
    }

    /** What to store with a hold that begins now. */
    HoldValue value(long beforeNanos, Duration ttl, String owner) {
        return new HoldValue(Duration.ofNanos(beforeNanos - sinceNanos).plus(ttl), Optional.of(OwnerText.of(owner)));
    }
}
