package dev.latchkey.cli;

/** What happens to the child if the lock is lost. Lower case on the command line. */
enum OnLost {
    /** The child gets TERM, and KILL if it still runs after the grace. */
    TERM,
    /** The child gets KILL at once. */
    KILL,
    /** The child continues, and the loss is reported. */
    WARN
}
