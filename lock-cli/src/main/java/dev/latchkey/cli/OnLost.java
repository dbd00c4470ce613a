package dev.latchkey.cli;

/** What becomes of the child when the lock is lost; on the command line in lower case. */
enum OnLost {
    /** It gets TERM, and KILL if it is still there when the grace is over. */
    TERM,
    /** It gets KILL at once. */
    KILL,
    /** It goes on, and we say so. */
    WARN
}
