package dev.latchkey.spi;

import dev.latchkey.Key;

/**
 * A store that takes part when several independent stores agree on one fencing token: each keeps a number for a resource
 * that never shrinks, and that only the exclusive holder can raise.
 */
public interface FencingStore extends PersistingStore {

    /**
     * As {@link #save}, with a fencing token that would suit the caller. A new exclusive hold gets that number if it is
     * greater than any before; then all stores of a quorum may agree at once.
     *
     * @param request who wants what
     * @param proposal the wish; zero or less for none. A store may ignore it. One whose tokens follow a clock must not take a
     *     number that is ahead of it by more than a second: else one client with a wrong idea of the time would spoil for all
     *     what the clock is there for
     * @return as {@link #save}
     */
    default Response save(Request request, long proposal) {
        return save(request);
    }

    /**
     * Raises the fencing token of a live exclusive hold, in one step with the check that the key holds it, and as durably
     * as a grant. From then on it is the token of this hold, and the next hold gets a greater one.
     *
     * @param key the holder; what it claims is of no concern
     * @param fence the new token
     * @return true if it is the token of this hold now; false if the key holds nothing exclusively, or with a greater one
     */
    boolean raiseFence(Key key, long fence);

    /**
     * Tells what its fencing tokens survive.
     *
     * @return the same each time
     */
    Durability survives();
}
