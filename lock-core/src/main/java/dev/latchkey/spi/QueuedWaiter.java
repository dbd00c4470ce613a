package dev.latchkey.spi;

import dev.latchkey.LockMode;
import java.time.Duration;
import java.util.Optional;

/**
 * A request that waits in the queue that a store keeps for a resource. It never contains the token.
 *
 * @param mode the requested mode
 * @param waited how long the request has been in the queue, by the store's clock; empty if the store does not keep it
 * @param description who waits, for people, as in {@link Holder#description()}; empty if unknown
 */
public record QueuedWaiter(LockMode mode, Optional<Duration> waited, Optional<String> description) {}
