package dev.latchkey.spi;

import java.util.List;
import java.util.Optional;

/**
 * A resource that is held, as it is listed.
 *
 * @param resource the name of the resource
 * @param holders all holders that are visible, at least one, in no particular order
 * @param waiters the queue of the resource, the next one to be granted first; empty if the store keeps no queue, so that
 *     nobody can tell how many wait
 */
public record ListedResource(String resource, List<Holder> holders, Optional<List<QueuedWaiter>> waiters) {}
