package dev.latchkey.cli;

import dev.latchkey.Lock;
import dev.latchkey.console.Text;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The command to run under the lock. */
final class ChildCommand {

    private static final List<String> SHELL = List.of("/bin/sh", "-c");

    /**
     * The error of the system in Java's words: {@code error=13, Permission denied}, or {@code error: 13 (…)} in later
     * versions.
     */
    private static final Pattern SYSTEM_ERROR = Pattern.compile("error[=:] ?([0-9]+)(?:, | \\()([^)]*)");

    private static final String NO_SUCH_FILE = "2";

    /** The variable that the launcher changed so that this JVM reads all names. The child gets the original value. */
    private static final String LAUNCHED_WITH_LC_ALL = "latchkey.lc-all";

    /** Variables for JVMs, which the launcher kept from this one: {@code LATCHKEY_KEPT_JAVA_TOOL_OPTIONS} and so on. */
    private static final String KEPT = "LATCHKEY_KEPT_";

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
     * Starts the command with stdin, stdout and stderr of this process. It inherits nothing else: the JVM closes all other
     * descriptors, so the command cannot keep a file lock if this process dies. It is not started if the lock is over.
     */
    Process start(Lock lock) {
        ProcessBuilder builder = new ProcessBuilder(SignalMask.of(words)).inheritIO();
        describe(lock, builder.environment());
        try {
            // Checked last: a process that was frozen since the grant may not know of its loss yet.
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
        // A run within a run must not see the variables of the outer lock.
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
        List<String> kept = environment.keySet().stream()
                .filter(name -> name.startsWith(KEPT))
                .toList();
        kept.forEach(name ->
                environment.put(name.substring(KEPT.length()), Objects.requireNonNull(environment.remove(name))));
    }

    /** Seconds since 1970, for arithmetic in a shell. Rounded down, because too early is safe. */
    static String epochSeconds(Duration fromNow) {
        return Long.toString(Instant.now().plus(fromNow).getEpochSecond());
    }
}
