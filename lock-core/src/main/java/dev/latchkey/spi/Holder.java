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
 * @param description the holder, for people: a process, a host, a session; empty if unknown
 */
public record Holder(
        LockMode mode, OptionalLong fencingToken, Optional<Duration> remaining, Optional<String> description) {}
