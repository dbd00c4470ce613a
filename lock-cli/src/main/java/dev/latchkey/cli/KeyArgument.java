package dev.latchkey.cli;

import dev.latchkey.Key;
import dev.latchkey.LockFactory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Parameters;

/** The key of a lock that was acquired elsewhere: from an argument, stdin or the environment. */
final class KeyArgument {

    private static final String VARIABLE = "LATCHKEY_KEY";
    private static final String STDIN = "-";

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "KEY",
            description = "What lock acquire printed; - reads it from stdin. Default: the variable LATCHKEY_KEY.")
    private @Nullable String text;

    Key key() {
        return Key.deserialize(read().strip());
    }

    private String read() {
        if (text == null) {
            String fromEnvironment = System.getenv(VARIABLE);
            if (fromEnvironment == null || fromEnvironment.isBlank()) {
                throw new CommandException(
                        ExitCode.USAGE,
                        "no key: give it as argument, in the variable " + VARIABLE + ", or on stdin with -",
                        null);
            }
            return fromEnvironment;
        }
        return text.equals(STDIN) ? firstLineOfInput() : text;
    }

    private static String firstLineOfInput() {
        try {
            String line = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
            if (line == null) {
                throw new CommandException(ExitCode.USAGE, "no key: stdin is empty", null);
            }
            return line;
        } catch (IOException e) {
            throw new CommandException(ExitCode.USAGE, "no key: stdin cannot be read: " + e.getMessage(), e);
        }
    }

    /** Fails if keys of this store cannot be transferred, instead of reporting the lock as lost. */
    static void requireTravelling(LockFactory locks, Key key) {
        String unused = locks.createLock(key.resource()).key().serialize();
    }
}
