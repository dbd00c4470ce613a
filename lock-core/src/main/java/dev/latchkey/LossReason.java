package dev.latchkey;

/** Why a hold ended without its holder releasing it. */
public enum LossReason {
    /** The lease ran out before it was refreshed. */
    EXPIRED,
    /** The store shows another holder. */
    TAKEN_OVER,
    /** The hold is gone from the store though its lease had not run out: the key was used to release it elsewhere. */
    RELEASED_ELSEWHERE,
    /** The session, connection or file that carried the hold ended. */
    SESSION_LOST,
    /** The store could not be reached until the lease ran out. */
    STORE_UNREACHABLE,
    /** The store was closed while the hold lasted. */
    STORE_CLOSED
}
