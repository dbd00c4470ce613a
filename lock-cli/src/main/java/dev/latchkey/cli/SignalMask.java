package dev.latchkey.cli;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Starts programs with no signal blocked. A JVM keeps QUIT for itself and blocks it in its threads; up to some release
 * after Java 17 its children inherit that, and QUIT, sent to them by anybody, would wait forever.
 */
final class SignalMask {

    /** Set by the launcher where env(1) can unblock signals: that of GNU can, since coreutils 8.31. */
    private static final String ENV_CAN_UNBLOCK = "latchkey.env-can-unblock";

    private static final List<String> UNBLOCK = List.of("env", "--default-signal=QUIT");

    private SignalMask() {}

    /**
     * Returns the words that start this command with no signal blocked; the very words where env cannot, and where it would
     * fail: then it is for the JVM to say why.
     */
    static List<String> of(List<String> words) {
        String program = words.get(0);
        // env takes what has a "=" for a variable.
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
