package dev.latchkey.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Whether somebody says yes, at the terminal or beforehand. */
enum Confirmation {
    GIVEN,
    ASKED;

    static Confirmation yes() {
        return GIVEN;
    }

    /** Fails where nobody could answer. */
    static Confirmation atTerminal() throws InterruptedException {
        if (!isTerminal(0) || !isTerminal(2)) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "there is no terminal to ask at: say --yes if you mean it, nothing was ended",
                    null);
        }
        return ASKED;
    }

    /** Asks on stderr, for stdout may be read by a program. */
    boolean confirm(String question) {
        if (this == GIVEN) {
            return true;
        }
        System.err.print(question);
        System.err.flush();
        try {
            // Not closed: stdin is not ours.
            BufferedReader terminal = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            String answer = terminal.readLine();
            return answer != null && isYes(answer.strip().toLowerCase(Locale.ROOT));
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean isYes(String answer) {
        return answer.equals("y") || answer.equals("yes");
    }

    /** Java's own answer is about stdin and stdout together, and changed with Java 22. */
    static boolean isTerminal(int descriptor) throws InterruptedException {
        try {
            return new ProcessBuilder("/bin/sh", "-c", "test -t " + descriptor)
                            .redirectInput(Redirect.INHERIT)
                            .redirectOutput(Redirect.INHERIT)
                            .redirectError(Redirect.INHERIT)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        }
    }
}
