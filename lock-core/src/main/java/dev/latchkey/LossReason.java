package dev.latchkey;

/** Why a hold ended without a release by its holder. */
public enum LossReason {
    /** The lease ended before it was refreshed. */
    EXPIRED,
    /** The store shows another holder. */
    TAKEN_OVER,
    /**
     * The hold is no longer in the store, although its lease has not ended: somebody else released it with the same key.
     */
    RELEASED_ELSEWHERE,
    /** An operator ended the hold ({@link LockFactory#forceRelease}). */
    FORCED,
    /** The session, connection or file that carried the hold ended. */
    SESSION_LOST,
    /** The store could not be reached until the lease ended. */
    STORE_UNREACHABLE,
    /** The store was closed during the hold. */
    STORE_CLOSED
}
