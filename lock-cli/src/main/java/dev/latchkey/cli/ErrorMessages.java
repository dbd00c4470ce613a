package dev.latchkey.cli;

import dev.latchkey.console.Text;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;

/** Formats messages for stderr: one line each, without keys and passwords. */
final class ErrorMessages {

    private ErrorMessages() {}

    static void say(PrintStream err, String message) {
        err.println("lock: " + Text.message(message));
    }

    static void explain(PrintStream err, Throwable failure) {
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new PrintWriter(trace));
        err.print(Text.withoutSecrets(trace.toString()));
    }
}
