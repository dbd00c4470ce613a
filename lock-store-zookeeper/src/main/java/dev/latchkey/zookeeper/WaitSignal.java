package dev.latchkey.zookeeper;

/** What wakes a waiter. */
sealed interface WaitSignal {

    /** Something has changed: read the queue again. */
    record Look() implements WaitSignal {}

    /**
     * An exclusive holder of the same store has released: the next is first, and need not read the queue.
     *
     * @param floor no earlier exclusive hold had the token of a later transaction
     */
    record Next(long floor) implements WaitSignal {}

    /** The session has ended, or may have. */
    record SessionLost() implements WaitSignal {}

    /** The wait was withdrawn, or its time is over. */
    record Stop() implements WaitSignal {}

    /** See {@link Look}. */
    WaitSignal LOOK = new Look();

    /** See {@link SessionLost}. */
    WaitSignal SESSION_LOST = new SessionLost();

    /** See {@link Stop}. */
    WaitSignal STOP = new Stop();
}
