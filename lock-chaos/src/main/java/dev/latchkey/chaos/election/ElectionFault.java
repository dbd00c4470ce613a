package dev.latchkey.chaos.election;

/** What is done to the leader, or to the server, so that another one leads. */
enum ElectionFault {
    /** It resigns. */
    RESIGN,
    /** Its callback throws. */
    FAIL,
    /** SIGKILL to its process. */
    KILL,
    /** SIGSTOP to its process, until another leads, and SIGCONT. */
    FREEZE,
    /** SIGSTOP to its process for about a lease. */
    FREEZE_FOR_A_LEASE,
    /** Nothing is delivered between it and the server until another leads, then everything. */
    SILENCE,
    /** Its connections are reset, and new ones as well, until another leads. */
    REFUSE,
    /** SIGKILL to the server, which returns with its data. */
    RESTART_SERVER,
    /** SIGSTOP to the server for longer than a lease. */
    FREEZE_SERVER,
    /** Another process, perhaps the next one in line, is frozen while the leader resigns. */
    RESIGN_TO_FROZEN
}
