package dev.latchkey.cli;

/** The exit codes of the command, apart from that of its child. The numbers are those of BSD's sysexits.h. */
enum ExitCode {
    OK(0),
    /** The command line is wrong, or the store does not support it: trying again never helps. */
    USAGE(64),
    /** The store cannot be reached, or failed: trying again may help. */
    UNAVAILABLE(69),
    /** A defect of this program. */
    SOFTWARE(70),
    /** The output could not be written. */
    OUTPUT(74),
    /** Somebody else holds the lock. Unlike flock's 1, this is hardly ever the exit code of a child. */
    CONFLICT(75),
    /** The lock was lost while it was needed. */
    LOST(76),
    /** The store refuses the user, the password or the permission: trying again does not help until somebody grants it. */
    DENIED(77),
    NOT_EXECUTABLE(126),
    NOT_FOUND(127);

    private final int number;

    ExitCode(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }
}
