package dev.latchkey.spi;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import java.time.Duration;

/**
 * What a store is asked to grant. Made by the core only, with checked values.
 *
 * @param key who asks; {@link Key#held()} is what the caller believes it holds now, empty when it holds nothing
 * @param mode what it wants to hold
 * @param ttl for how long, more than zero; a store without expiry ignores it
 * @param retryIntent whether the caller asks again when refused
 * @param leaseChange whether the lease of what the key holds already may end sooner than it would
 */
public record Request(Key key, LockMode mode, Duration ttl, RetryIntent retryIntent, LeaseChange leaseChange) {

    /**
     * Makes a request that never ends a lease sooner.
     *
     * @param key who asks
     * @param mode what it wants to hold
     * @param ttl for how long
     * @param retryIntent whether the caller asks again when refused
     */
    public Request(Key key, LockMode mode, Duration ttl, RetryIntent retryIntent) {
        this(key, mode, ttl, retryIntent, LeaseChange.EXTEND);
    }

    /**
     * Returns the same request from a caller that comes back, or does not.
     *
     * @param other how patient the caller is
     * @return a request that differs in that alone
     */
    public Request with(RetryIntent other) {
        return new Request(key, mode, ttl, other, leaseChange);
    }

    /**
     * Returns the same request with another effect on a lease that is there.
     *
     * @param other whether it may end sooner
     * @return a request that differs in that alone
     */
    public Request with(LeaseChange other) {
        return new Request(key, mode, ttl, retryIntent, other);
    }

    /**
     * Returns the same request of another key, for a store that passes requests on to others.
     *
     * @param other who asks
     * @return a request that differs in that alone
     */
    public Request with(Key other) {
        return new Request(other, mode, ttl, retryIntent, leaseChange);
    }
}
