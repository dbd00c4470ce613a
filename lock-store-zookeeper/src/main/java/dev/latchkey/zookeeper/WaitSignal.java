package dev.latchkey.zookeeper;

/** What wakes one who waits. */
sealed interface WaitSignal {

    /** Something has changed: the line is worth another look. */
    record Look() implements WaitSignal {}

    /**
     * The one before, of the same store, held exclusively and gave up: the next is first, without a look.
     *
     * @param token the greatest of all before
     */
    record Next(long token) implements WaitSignal {}

    /** The session is gone, or not known to live. */
    record SessionLost() implements WaitSignal {}

    /** Nobody wants it any more. */
    record Stop() implements WaitSignal {}

    /** See {@link Look}. */
    WaitSignal LOOK = new Look();

    /** See {@link SessionLost}. */
    WaitSignal SESSION_LOST = new SessionLost();

    /** See {@link Stop}. */
    WaitSignal STOP = new Stop();
}
