package dev.latchkey.cli;

import org.jspecify.annotations.Nullable;

/** Ends the command with an exit code and one line on stderr. */
final class CommandException extends RuntimeException {

    private final ExitCode exitCode;

    CommandException(ExitCode exitCode, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    ExitCode exitCode() {
        return exitCode;
    }
}
