package dev.latchkey.spi;

/** Whether the caller asks again if a request is refused. */
public enum RetryIntent {
    /** This is the only attempt, or the last one: a refusal leaves nothing in the store. */
    ONCE,
    /**
     * The caller waits and asks again soon. A polling store may mark that a promoter waits, with a mark that expires by
     * itself. The mark keeps new readers out, and a second promoter is {@link Response.Refused}.
     */
    AGAIN
}
