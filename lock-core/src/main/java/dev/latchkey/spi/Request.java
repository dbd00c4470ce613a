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
 * @param patience whether the caller asks again when refused
 */
public record Request(Key key, LockMode mode, Duration ttl, Patience patience) {

    /**
     * Returns the same request from a caller that comes back, or does not.
     *
     * @param other how patient the caller is
     * @return a request that differs in that alone
     */
    public Request with(Patience other) {
        return new Request(key, mode, ttl, other);
    }
}
