package dev.latchkey.spi;

import java.util.List;

/** A store that keeps a queue of waiters and can list it, for people who look into it. */
public interface WaiterListingStore extends InspectableStore {

    /**
     * Returns the queue of a resource, without an effect on anybody. The result may be outdated when it is read.
     *
     * @param resource the name of the resource
     * @return who waits, the next one to be granted first; empty if nobody does
     */
    List<QueuedWaiter> waiters(String resource);
}
