package dev.latchkey.testkit;

import dev.latchkey.LockMode;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.OptionalLong;

/**
 * Writes down what a process believes to hold, as it begins to believe it, for {@link History} to judge. Each line is one
 * system call, so that a killed process leaves all it believed. Times are {@link System#nanoTime()}, which on Linux is the
 * same clock in all processes of a machine. Thread-safe.
 */
public final class HistoryLog implements AutoCloseable {

    // Not a channel: an interrupt would close it.
    private final FileOutputStream file;

    /**
     * Opens a log.
     *
     * @param path of a new file, or one to write on to
     */
    public HistoryLog(Path path) {
        try {
            file = new FileOutputStream(path.toFile(), true);
        } catch (IOException e) {
            throw new UncheckedIOException("could not open a history", e);
        }
    }

    /**
     * A hold begins.
     *
     * @param hold an id of its own
     * @param owner the same for the holds of one key, which never conflict with each other
     * @param resource what is held
     * @param mode how
     * @param fencingToken of the hold
     * @param from when it was known
     * @param until when it ends if nothing else is said
     */
    public void held(
            String hold,
            String owner,
            String resource,
            LockMode mode,
            OptionalLong fencingToken,
            long from,
            long until) {
        String token = fencingToken.isPresent() ? Long.toString(fencingToken.getAsLong()) : "-";
        write("held", hold, owner, resource, mode.name(), token, Long.toString(from), Long.toString(until));
    }

    /**
     * A hold lasts longer, or less long.
     *
     * @param hold its id
     * @param until when it ends if nothing else is said
     */
    public void extended(String hold, long until) {
        write("extended", hold, Long.toString(until));
    }

    /**
     * A hold is given up.
     *
     * @param hold its id
     * @param at before its release was sent
     */
    public void ended(String hold, long at) {
        write("ended", hold, Long.toString(at));
    }

    /**
     * A server is about to lose its data: what was believed until now is no longer so.
     *
     * @param at before the server was killed
     */
    public void dataLost(long at) {
        write("lost", Long.toString(at));
    }

    /**
     * Something happened that must not.
     *
     * @param what in words
     */
    public void anomaly(String what) {
        write("anomaly", what.replace('\n', ' '));
    }

    private void write(String... words) {
        byte[] line = (String.join(" ", words) + "\n").getBytes(StandardCharsets.UTF_8);
        try {
            file.write(line);
        } catch (IOException e) {
            throw new UncheckedIOException("could not write a history", e);
        }
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException("could not close a history", e);
        }
    }
}
