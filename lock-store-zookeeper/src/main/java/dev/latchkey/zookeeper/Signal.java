package dev.latchkey.zookeeper;

/** What wakes one who waits. */
sealed interface Signal {

    /** Something has changed: the line is worth another look. */
    record Look() implements Signal {}

    /**
     * The one before, of the same store, held exclusively and gave up: the next is first, without a look.
     *
     * @param token the greatest of all before
     */
    record Next(long token) implements Signal {}

    /** The session is gone, or not known to live. */
    record SessionLost() implements Signal {}

    /** Nobody wants it any more. */
    record Stop() implements Signal {}

    /** See {@link Look}. */
    Signal LOOK = new Look();

    /** See {@link SessionLost}. */
    Signal SESSION_LOST = new SessionLost();

    /** See {@link Stop}. */
    Signal STOP = new Stop();
}
