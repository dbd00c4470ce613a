package dev.latchkey.spi;

/**
 * A store that can notify a waiter when a resource may be free, so that it need not poll often. A notification is a hint
 * that may be early, late or lost: only {@link #save} decides, and the core still asks, but seldom.
 */
public interface NotifyingStore extends PersistingStore {

    /**
     * Starts to watch a resource for a waiter. Returns at once, even if the backend is unreachable. In that case the
     * subscription starts by itself as soon as possible, and reports this by completing the stage of its
     * {@link ReleaseSubscription#next()}.
     *
     * @param resource the name of the resource
     * @return the subscription, which the caller closes
     */
    ReleaseSubscription watch(String resource);
}
