package dev.latchkey.cli;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Starts programs with no signal blocked. A JVM reserves QUIT and blocks it in its threads. Up to some release after Java 17 its
 * children inherit that, and a QUIT to them would stay pending for ever.
 */
final class SignalMask {

    /** Set by the launcher if env(1) can unblock signals, as that of GNU coreutils 8.31 and later can. */
    private static final String ENV_CAN_UNBLOCK = "latchkey.env-can-unblock";

    private static final List<String> UNBLOCK = List.of("env", "--default-signal=QUIT");

    private SignalMask() {}

    /**
     * Returns the words that start this command with no signal blocked; the same words if env cannot do it, or would fail.
     * Then the JVM reports the reason.
     */
    static List<String> of(List<String> words) {
        String program = words.get(0);
        // For env, a word with "=" is a variable.
        if (!Boolean.getBoolean(ENV_CAN_UNBLOCK) || program.contains("=") || !isExecutable(program)) {
            return words;
        }
        List<String> unblocked = new ArrayList<>(UNBLOCK);
        unblocked.addAll(words);
        return unblocked;
    }

    private static boolean isExecutable(String program) {
        if (program.contains("/")) {
            return isExecutable(Path.of(program));
        }
        String path = System.getenv().getOrDefault("PATH", "");
        return Stream.of(path.split(File.pathSeparator))
                .anyMatch(directory -> isExecutable(Path.of(directory, program)));
    }

    private static boolean isExecutable(Path file) {
        return Files.isRegularFile(file) && Files.isExecutable(file);
    }
}
