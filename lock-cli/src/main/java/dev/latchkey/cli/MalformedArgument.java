package dev.latchkey.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/**
 * Finds an argument that Java does not have as it was typed. It reads bytes that are no UTF-8 as U+FFFD, and writes that as other
 * bytes: the command would work on another file, and two names could be the same lock. Only Linux shows what was typed.
 */
final class MalformedArgument {

    private static final Path TYPED = Path.of("/proc/self/cmdline");

    private static final String REPLACEMENT = "\ufffd";

    private MalformedArgument() {}

    /** Returns the first one, as Java has it; empty if all are as they were typed. */
    static Optional<String> of(String[] args) {
        return Arrays.stream(args).noneMatch(arg -> arg.contains(REPLACEMENT)) ? Optional.empty() : differing(args);
    }

    private static Optional<String> differing(String[] args) {
        String[] typed = typed();
        // The options of the JVM and the class stand before them.
        int first = typed.length - args.length;
        for (int i = 0; i < args.length && first >= 0; i++) {
            byte[] bytes = typed[first + i].getBytes(StandardCharsets.ISO_8859_1);
            if (!Arrays.equals(bytes, args[i].getBytes(StandardCharsets.UTF_8))) {
                return Optional.of(args[i]);
            }
        }
        return Optional.empty();
    }

    /** Each byte as one character. */
    private static String[] typed() {
        try {
            String all = new String(Files.readAllBytes(TYPED), StandardCharsets.ISO_8859_1);
            // A zero ends each, the last one, too.
            return all.substring(0, Math.max(0, all.length() - 1)).split("\0", -1);
        } catch (IOException e) {
            return new String[0];
        }
    }
}
