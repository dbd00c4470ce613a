package dev.latchkey.cli;

import dev.latchkey.LockConflictedException;
import dev.latchkey.LockException;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.UnserializableKeyException;
import dev.latchkey.console.Text;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.AccessDeniedException;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Converts failures to one line on stderr and an exit code. */
final class Failures implements IParameterExceptionHandler, IExecutionExceptionHandler {

    @Override
    public int handleParseException(ParameterException failure, String[] args) {
        CommandLine command = failure.getCommandLine();
        // Secrets are hidden before the text is shortened, because the rest of a key would not be recognized.
        String message = Text.withoutSecrets(String.valueOf(failure.getMessage()));
        ErrorMessages.say(
                System.err,
                Text.oneLine(message) + "; see " + command.getCommandSpec().qualifiedName() + " --help");
        return ExitCode.USAGE.number();
    }

    @Override
    public int handleExecutionException(Exception failure, CommandLine command, ParseResult parsed) {
        report(failure, System.err, isVerbose(command));
        return exitCode(failure).number();
    }

    private static boolean isVerbose(CommandLine command) {
        OptionSpec verbose = command.getCommandSpec().findOption(StoreOptions.VERBOSE);
        return verbose != null && Boolean.TRUE.equals(verbose.getValue());
    }

    private static void report(Exception failure, PrintStream err, boolean verbose) {
        ErrorMessages.say(err, message(failure));
        if (verbose) {
            ErrorMessages.explain(err, failure);
        }
    }

    static ExitCode exitCode(Exception failure) {
        if (failure instanceof CommandException known) {
            return known.exitCode();
        }
        if (isDenied(failure)) {
            return ExitCode.DENIED;
        }
        if (failure instanceof LockStorageException || isOfTheSystem(failure)) {
            return ExitCode.UNAVAILABLE;
        }
        if (failure instanceof LockLostException) {
            return ExitCode.LOST;
        }
        if (failure instanceof LockConflictedException) {
            return ExitCode.CONFLICT;
        }
        // The store does not support the call, or the DSN, the name or the TTL is wrong.
        return failure instanceof UnserializableKeyException || failure instanceof IllegalArgumentException
                ? ExitCode.USAGE
                : ExitCode.SOFTWARE;
    }

    private static boolean isDenied(Exception failure) {
        return failure.getCause() instanceof AccessDeniedException
                || (failure instanceof LockStorageException storage
                        && storage.failure() == LockStorageException.Failure.DENIED);
    }

    /** A DSN may be valid although its store cannot be used. */
    private static boolean isOfTheSystem(Exception failure) {
        return failure.getCause() instanceof IOException;
    }

    static String message(Exception failure) {
        String message = String.valueOf(failure.getMessage());
        if (failure instanceof LockException) {
            // The message begins with: lock "name". The prefix of the command is the same word.
            return message.startsWith("lock ") ? message.substring("lock ".length()) : message;
        }
        if (exitCode(failure) == ExitCode.SOFTWARE) {
            return "unexpected " + failure.getClass().getSimpleName() + ": " + Text.oneLine(message)
                    + "; please report it with what --verbose prints";
        }
        return message;
    }
}
