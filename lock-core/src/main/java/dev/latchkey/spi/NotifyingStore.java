package dev.latchkey.spi;

/**
 * A store that can tell when a resource may have come free, so that a waiter need not ask again and again. What it tells
 * is a hint that may be early, late, or lost: only {@link #save} knows, and the core goes on asking, but seldom.
 */
public interface NotifyingStore extends PersistingStore {

    /**
     * Begins to watch a resource for a waiter. Returns at once, also when the backend cannot be reached now: the watch
     * then begins by itself as soon as it can, and says so by completing the stage of its {@link ReleaseSubscription#next()}.
     *
     * @param resource what is waited for
     * @return the watch, which the caller closes
     */
    ReleaseSubscription watch(String resource);
}
