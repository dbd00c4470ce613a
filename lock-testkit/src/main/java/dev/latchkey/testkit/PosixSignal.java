package dev.latchkey.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** A signal that a process cannot refuse. */
public enum PosixSignal {
    /** Ends it at once. */
    KILL,
    /** Suspends it. */
    STOP,
    /** Lets it go on. */
    CONT;

    /** The state of a thread in {@code /proc/PID/task/TID/status}: stopped, or ended. */
    private static final Pattern STANDS_STILL = Pattern.compile("State:\t[TtZX].*");

    /**
     * Sends this signal. Returns when a process that it suspends stands still, with each of its threads, where the system tells.
     *
     * @param pid the process
     */
    public void sendTo(long pid) {
        send(pid);
        if (this == STOP) {
            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> standsStill(pid));
        }
    }

    private static boolean standsStill(long pid) throws IOException {
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
            return threads.allMatch(PosixSignal::standsStill);
        } catch (NoSuchFileException | UncheckedIOException e) {
            // It has ended, perhaps as its threads were listed, or this is another system than Linux.
            return true;
        }
    }

    private static boolean standsStill(Path thread) {
        try (Stream<String> lines = Files.lines(thread.resolve("status"), StandardCharsets.ISO_8859_1)) {
            return lines.anyMatch(line -> STANDS_STILL.matcher(line).matches());
        } catch (IOException | UncheckedIOException e) {
            // It has ended.
            return true;
        }
    }

    private void send(long pid) {
        try {
            int exit = new ProcessBuilder("kill", "-" + name(), Long.toString(pid))
                    .inheritIO()
                    .start()
                    .waitFor();
            if (exit != 0) {
                throw new AssertionError("kill -" + name() + " " + pid + " ended with " + exit);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("no command \"kill\" on this machine", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while sending a signal", e);
        }
    }
}
