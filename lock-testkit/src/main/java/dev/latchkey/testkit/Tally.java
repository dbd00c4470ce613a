package dev.latchkey.testkit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.OptionalLong;

/**
 * A number in a file, unguarded, and a record of who changed it: what a lock is to protect. Two holders at once lose an
 * update, which the number or the record shows. Each write is one system call, so that a killed process leaves no half of
 * it.
 */
public final class Tally {

    /**
     * One hold, as it was written down while it lasted.
     *
     * @param number what the holder read, and then increased by one
     * @param fencingToken its fencing token
     */
    public record Entry(long number, OptionalLong fencingToken) {}

    private static final int WIDTH = 20;

    private final Path directory;
    private final Path number;
    private final Path record;

    /**
     * Makes a tally in a directory.
     *
     * @param directory an existing directory of its own; the number is zero if it is empty
     */
    public Tally(Path directory) {
        this.directory = directory;
        this.number = directory.resolve("number");
        this.record = directory.resolve("record");
    }

    Path directory() {
        return directory;
    }

    /**
     * Reads the number, writes the hold down, and writes the number plus one. Wrong as soon as two do it at once.
     *
     * @param fencingToken of the hold
     * @throws IOException if a file cannot be read or written
     */
    public void increment(OptionalLong fencingToken) throws IOException {
        long read = number();
        String token = fencingToken.isPresent() ? Long.toString(fencingToken.getAsLong()) : "-";
        write(record, read + " " + token + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        write(number, String.format("%" + WIDTH + "d", read + 1), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }

    /**
     * Returns the number.
     *
     * @return zero before the first increment
     * @throws IOException if the file cannot be read
     */
    public long number() throws IOException {
        String digits = Files.exists(number)
                ? Files.readString(number, StandardCharsets.US_ASCII).strip()
                : "";
        return digits.isEmpty() ? 0 : Long.parseLong(digits);
    }

    /**
     * Returns the holds in the order in which they were written down. A holder that was killed before it wrote the number
     * has the same number as the next.
     *
     * @return all holds so far
     * @throws IOException if the file cannot be read
     */
    public List<Entry> entries() throws IOException {
        if (!Files.exists(record)) {
            return List.of();
        }
        return Files.readAllLines(record, StandardCharsets.US_ASCII).stream()
                .map(line -> line.split(" ", -1))
                .map(words -> new Entry(
                        Long.parseLong(words[0]),
                        words[1].equals("-") ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(words[1]))))
                .toList();
    }

    private static void write(Path file, String text, StandardOpenOption... options) throws IOException {
        try (FileChannel channel = FileChannel.open(file, options)) {
            ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
            if (channel.write(bytes) != text.length()) {
                throw new IOException("a write to " + file + " was cut short");
            }
        }
    }
}
