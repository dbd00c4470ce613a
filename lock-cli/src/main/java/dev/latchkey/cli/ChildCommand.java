package dev.latchkey.cli;

import dev.latchkey.Lock;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The command to run under the lock. */
final class ChildCommand {

    private static final List<String> SHELL = List.of("/bin/sh", "-c");

    /** What the system said, in Java's words: {@code error=13, Permission denied}, or {@code error: 13 (…)} in later ones. */
    private static final Pattern SYSTEM_ERROR = Pattern.compile("error[=:] ?([0-9]+)(?:, | \\()([^)]*)");

    private static final String NO_SUCH_FILE = "2";

    /** What the launcher changed for this JVM, so that it reads all names; the child gets back what it was. */
    private static final String LAUNCHED_WITH_LC_ALL = "latchkey.lc-all";

    private final List<String> words;

    private ChildCommand(List<String> words) {
        this.words = words;
    }

    static ChildCommand of(List<String> words) {
        return new ChildCommand(List.copyOf(words));
    }

    /** A command for the shell; further words are its {@code $0}, {@code $1}, … */
    static ChildCommand throughShell(String script, List<String> arguments) {
        List<String> words = new ArrayList<>(SHELL);
        words.add(script);
        words.addAll(arguments);
        return new ChildCommand(words);
    }

    String name() {
        return words.get(0);
    }

    /**
     * Starts it with our stdin, stdout and stderr. It inherits nothing else: the JVM closes all other descriptors, so it
     * cannot keep a file lock when we die. Not started if the lock is over already.
     */
    Process start(Lock lock) {
        ProcessBuilder builder = new ProcessBuilder(SignalMask.of(words)).inheritIO();
        describe(lock, builder.environment());
        try {
            // The last thing before: a process that was frozen since the grant may not have been told of its loss yet.
            requireHeld(lock);
            return builder.start();
        } catch (IOException e) {
            Matcher said = SYSTEM_ERROR.matcher(String.valueOf(e.getMessage()));
            boolean isKnown = said.find();
            if (isKnown && said.group(1).equals(NO_SUCH_FILE)) {
                throw cannotRun(ExitCode.NOT_FOUND, "command not found; check its name and PATH", e);
            }
            String reason = isKnown ? said.group(2) : String.valueOf(e.getMessage());
            throw cannotRun(ExitCode.NOT_EXECUTABLE, Text.oneLine(reason), e);
        }
    }

    private static void requireHeld(Lock lock) {
        if (lock.isExpired()) {
            throw new CommandException(
                    ExitCode.LOST,
                    "lost the lock " + Text.quoted(lock.key().resource())
                            + " before the command was started: did not start it",
                    null);
        }
    }

    private CommandException cannotRun(ExitCode code, String reason, IOException cause) {
        return new CommandException(code, "cannot run " + Text.quoted(name()) + ": " + reason, cause);
    }

    private static void describe(Lock lock, Map<String, String> environment) {
        // A run within a run must not see what belongs to the outer lock.
        environment.remove("LOCK_TOKEN");
        environment.remove("LOCK_EXPIRES");
        environment.put("LOCK_NAME", lock.key().resource());
        lock.fencingToken().ifPresent(token -> environment.put("LOCK_TOKEN", Long.toString(token)));
        lock.remainingLifetime().ifPresent(left -> environment.put("LOCK_EXPIRES", epochSeconds(left)));
        String lcAll = System.getProperty(LAUNCHED_WITH_LC_ALL);
        if (lcAll != null) {
            if (lcAll.isEmpty()) {
                environment.remove("LC_ALL");
            } else {
                environment.put("LC_ALL", lcAll);
            }
        }
    }

    /** Seconds since 1970, for arithmetic in a shell; rounded down, for sooner is the safe side. */
    static String epochSeconds(Duration fromNow) {
        return Long.toString(Instant.now().plus(fromNow).getEpochSecond());
    }
}
