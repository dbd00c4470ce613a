package dev.latchkey.spi;

import java.time.Duration;
import java.util.Optional;

/**
 * A holder of permits of a semaphore. It never contains the token.
 *
 * @param count how many permits it holds
 * @param limit how many permits the semaphore has, as the holder knows it
 * @param remaining the rest of the lease by the store's clock
 * @param held how long ago the permits were granted, by the store's clock
 * @param description the holder, for people, as in {@link Holder#description()}; empty if unknown
 */
public record PermitHolder(int count, int limit, Duration remaining, Duration held, Optional<String> description) {}
