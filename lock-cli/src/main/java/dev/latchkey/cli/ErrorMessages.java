package dev.latchkey.cli;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;

/** What is printed on stderr: each message one line, and no key or password in any. */
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
