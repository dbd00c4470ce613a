package dev.latchkey;

/** Who has been told that a hold is over. */
enum LossNotice {
    NOBODY,
    /** A listener or an interrupt has told it, or {@link Lock#isExpired()} or {@link Lock#isAcquired()} has shown it. */
    SHOWN,
    /** A call has failed because of it. */
    THROWN
}
