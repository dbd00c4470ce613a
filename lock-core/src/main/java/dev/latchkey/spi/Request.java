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
 * @param sticky more than zero if the holder may keep the hold between several uses, for which {@link RecallableStore} has
 *     the rules; zero for an ordinary hold. A store that is no {@code RecallableStore} is only asked for ordinary ones
 */
public record Request(
        Key key,
        LockMode mode,
        Duration ttl,
        RetryIntent retryIntent,
        LeaseChange leaseChange,
        String owner,
        Duration sticky) {

    /** The longest owner name in UTF-8. */
    public static final int MAX_OWNER_BYTES = 256;

    private static final long MOST_TOKENS = 65_536;

    /**
     * Creates a request for an ordinary hold.
     *
     * @param key the owner
     * @param mode the requested mode
     * @param ttl the requested TTL
     * @param retryIntent whether the caller asks again if it is refused
     * @param leaseChange whether an existing lease of the key may end sooner
     * @param owner the owner name of the factory that asks; empty if unknown
     */
    public Request(
            Key key, LockMode mode, Duration ttl, RetryIntent retryIntent, LeaseChange leaseChange, String owner) {
        this(key, mode, ttl, retryIntent, leaseChange, owner, Duration.ZERO);
    }

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
        return new Request(key, mode, ttl, other, leaseChange, owner, sticky);
    }

    /**
     * Returns the same request with another effect on an existing lease.
     *
     * @param other whether the lease may end sooner
     * @return a request that differs only in this
     */
    public Request with(LeaseChange other) {
        return new Request(key, mode, ttl, retryIntent, other, owner, sticky);
    }

    /**
     * Returns the same request for another key, for a store that forwards requests to other stores.
     *
     * @param other the owner
     * @return a request that differs only in this
     */
    public Request with(Key other) {
        return new Request(other, mode, ttl, retryIntent, leaseChange, owner, sticky);
    }

    /**
     * Returns whether the hold may be kept between several uses, and is recalled when somebody else asks for the resource.
     *
     * @return true if {@link #sticky()} is more than zero
     */
    public boolean isSticky() {
        return !sticky.isZero();
    }

    /**
     * Returns how many fencing tokens the holder may use after the one that it is granted, without asking: as many as the TTL
     * has microseconds, and 65,536 at most. {@link RecallableStore#reservedTokens} may be fewer.
     *
     * @return zero for a request that is not sticky
     */
    public long reservedTokens() {
        if (!isSticky()) {
            return 0;
        }
        return ttl.compareTo(Duration.ofSeconds(1)) > 0 ? MOST_TOKENS : Math.min(ttl.toNanos() / 1_000, MOST_TOKENS);
    }
}
