package dev.latchkey.spi;

import dev.latchkey.Key;

/**
 * A store that can take part when several independent stores agree on one fencing token. For each resource it keeps a
 * number that never decreases and that only the exclusive holder can raise.
 */
public interface FencingStore extends PersistingStore {

    /**
     * Acquires, renews, promotes or demotes as {@link #save(Request)} does, with a fencing token that the caller prefers.
     * A new exclusive hold gets this number if it is greater than all earlier tokens. All stores of a quorum can then
     * agree at once.
     *
     * @param request the request
     * @param proposal the preferred token; zero or less for none. A store may ignore it. A store whose tokens follow a
     *     clock must ignore a number that is more than a second ahead of this clock; otherwise one client with a wrong
     *     clock would spoil the clock's purpose for all clients
     * @return the answer
     */
    default Response save(Request request, long proposal) {
        return save(request);
    }

    /**
     * Raises the fencing token of an existing exclusive hold, in one step with the check that the key holds it, and as
     * durably as a grant. From then on it is the token of this hold, and the next hold gets a greater one.
     *
     * @param key the holder; what it claims to hold is ignored
     * @param fence the new token
     * @return true if it is now the token of this hold; false if the key holds nothing exclusively, or holds with a
     *     greater token
     */
    boolean raiseFence(Key key, long fence);

    /**
     * Returns what the fencing tokens of this store survive.
     *
     * @return the durability; the same at each call
     */
    Durability survives();
}
