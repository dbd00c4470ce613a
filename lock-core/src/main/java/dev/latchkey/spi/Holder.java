package dev.latchkey.spi;

import dev.latchkey.LockMode;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Somebody who holds a resource, as far as the store can tell. Never the token.
 *
 * @param mode how it is held
 * @param fencingToken the number of an exclusive hold
 * @param remaining what is left of the lease by the store's clock; empty without a lease
 * @param description who it is, for people: a process, a host, a session; empty where that is not known
 */
public record Holder(
        LockMode mode, OptionalLong fencingToken, Optional<Duration> remaining, Optional<String> description) {}
