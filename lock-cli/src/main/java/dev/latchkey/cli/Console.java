package dev.latchkey.cli;

import java.io.PrintStream;

/** The output of the command: answers on stdout, everything else on stderr, one line each. */
final class Console {

    private final PrintStream out;
    private final PrintStream err;
    private final boolean verbose;

    Console(PrintStream out, PrintStream err, boolean verbose) {
        this.out = out;
        this.err = err;
        this.verbose = verbose;
    }

    /** For the caller, or its script. */
    void answer(String line) {
        if (!print(line)) {
            throw notWritten();
        }
    }

    /**
     * As {@link #answer}, on a separate thread: the reader may be stuck, and signals and losses must be handled nevertheless.
     * The result arrives as {@link Event.Printed}.
     */
    void answer(String line, Inbox inbox) {
        Threads.startDaemon("lock-answer", () -> inbox.add(new Event.Printed(print(line))));
    }

    private boolean print(String line) {
        out.println(line);
        return !out.checkError();
    }

    static CommandException notWritten() {
        return new CommandException(ExitCode.OUTPUT, "the answer could not be written to stdout", null);
    }

    /** For people, always. */
    void say(String line) {
        ErrorMessages.say(err, line);
    }

    /** For people who asked for {@code --verbose}. */
    void explain(String line) {
        if (verbose) {
            say(line);
        }
    }
}
