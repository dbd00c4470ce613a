package dev.latchkey.spi;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import java.time.Duration;

/**
 * A request to a store. Only the core creates requests, with checked values.
 *
 * @param key the owner; {@link Key#held()} is what the caller believes it holds now, empty for nothing
 * @param mode the requested mode
 * @param ttl the requested TTL, more than zero; ignored by stores without leases
 * @param retryIntent whether the caller asks again if it is refused
 * @param leaseChange whether an existing lease of the key may end sooner
 * @param owner the owner name of the factory that asks, for {@link Holder#description()}: any characters, at most
 *     {@link #MAX_OWNER_BYTES} in UTF-8; empty if unknown. A store shows it to people, and decides nothing by it
 */
public record Request(
        Key key, LockMode mode, Duration ttl, RetryIntent retryIntent, LeaseChange leaseChange, String owner) {

    /** The longest owner name in UTF-8. */
    public static final int MAX_OWNER_BYTES = 256;

    /**
     * Creates a request of nobody who is known by name.
     *
     * @param key the owner
     * @param mode the requested mode
     * @param ttl the requested TTL
     * @param retryIntent whether the caller asks again if it is refused
     * @param leaseChange whether an existing lease of the key may end sooner
     */
    public Request(Key key, LockMode mode, Duration ttl, RetryIntent retryIntent, LeaseChange leaseChange) {
        this(key, mode, ttl, retryIntent, leaseChange, "");
    }

    /**
     * Creates a request that never ends a lease sooner.
     *
     * @param key the owner
     * @param mode the requested mode
     * @param ttl the requested TTL
     * @param retryIntent whether the caller asks again if it is refused
     */
    public Request(Key key, LockMode mode, Duration ttl, RetryIntent retryIntent) {
        this(key, mode, ttl, retryIntent, LeaseChange.EXTEND);
    }

    /**
     * Returns whether this is a demotion: it asks to share, and claims the exclusive hold. Any other request to share may have
     * been sent before a promotion, and demotes nothing. One whose answer was lost is repeated with the same claim, and is
     * granted if the key holds the resource in shared mode already.
     *
     * @return true only for a request that may demote an exclusive hold
     */
    public boolean isDemotion() {
        return mode == LockMode.SHARED
                && key.held()
                        .filter(claimed -> claimed.mode() == LockMode.EXCLUSIVE)
                        .isPresent();
    }

    /**
     * Returns the same request with another retry intent.
     *
     * @param other whether the caller asks again if it is refused
     * @return a request that differs only in this
     */
    public Request with(RetryIntent other) {
        return new Request(key, mode, ttl, other, leaseChange, owner);
    }

    /**
     * Returns the same request with another effect on an existing lease.
     *
     * @param other whether the lease may end sooner
     * @return a request that differs only in this
     */
    public Request with(LeaseChange other) {
        return new Request(key, mode, ttl, retryIntent, other, owner);
    }

    /**
     * Returns the same request for another key, for a store that forwards requests to other stores.
     *
     * @param other the owner
     * @return a request that differs only in this
     */
    public Request with(Key other) {
        return new Request(other, mode, ttl, retryIntent, leaseChange, owner);
    }
}
