package dev.latchkey.leader;

/** Why a term has ended. */
enum TermEnd {
    /** By {@link LeaderElection#resign()}. */
    RESIGNED,
    /** The callback has returned. */
    RETURNED,
    /** The callback has thrown. */
    FAILED,
    /** The lock was lost, or its lease was about to end. */
    LOST,
    /** By {@link LeaderElection#close()}. */
    CLOSED
}
