package dev.latchkey.spi;

/** Whether the caller comes back when a request is refused. */
public enum RetryIntent {
    /** This is the only try, or the last one: a refusal leaves no trace in the store. */
    ONCE,
    /**
     * The caller waits and asks again soon. A polling store may mark that a promoter waits, with a mark that lapses by
     * itself: it keeps new readers out and lets a second promoter be {@link Response.Refused}.
     */
    AGAIN
}
