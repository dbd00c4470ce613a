package dev.latchkey.release;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * A Java file of the checkout.
 *
 * @param file below the root of the checkout
 * @param lines of code: not blank, no comment, no package and no import
 */
record Source(Path file, int lines) {

    /** From the start of a line: one that begins within a line of code leaves that what it is. */
    private static final Pattern COMMENT = Pattern.compile("(?ms)^\\s*(?:/\\*.*?\\*/|//[^\n]*)");

    static Source of(Path file) {
        try {
            return new Source(Published.ROOT.relativize(file), linesOfCode(Files.readString(file)));
        } catch (IOException e) {
            throw new UncheckedIOException(file.toString(), e);
        }
    }

    static int linesOfCode(String text) {
        return (int) COMMENT.matcher(text)
                .replaceAll("")
                .lines()
                .filter(line -> !line.isBlank())
                .filter(line -> !line.startsWith("package ") && !line.startsWith("import "))
                .count();
    }

    /** For messages. */
    @Override
    public String toString() {
        return file + " " + lines;
    }
}
