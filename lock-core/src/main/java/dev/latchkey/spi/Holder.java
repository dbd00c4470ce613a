package dev.latchkey.spi;

import dev.latchkey.LockMode;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A holder of a resource, as far as the store can tell. It never contains the token.
 *
 * @param mode the mode of the hold
 * @param fencingToken the fencing token of an exclusive hold
 * @param remaining the rest of the lease by the store's clock; empty without a lease
 * @param held how long ago the hold was granted, by the store's clock; empty if the store does not keep it
 * @param description the holder, for people: the owner name of its factory, a process, a host, a session; empty if
 *     unknown
 */
public record Holder(
        LockMode mode,
        OptionalLong fencingToken,
        Optional<Duration> remaining,
        Optional<Duration> held,
        Optional<String> description) {

    /**
     * Creates a holder of a store that does not keep when a hold was granted.
     *
     * @param mode the mode of the hold
     * @param fencingToken the fencing token of an exclusive hold
     * @param remaining the rest of the lease by the store's clock; empty without a lease
     * @param description the holder, for people; empty if unknown
     */
    public Holder(
            LockMode mode, OptionalLong fencingToken, Optional<Duration> remaining, Optional<String> description) {
        this(mode, fencingToken, remaining, Optional.empty(), description);
    }
}
