package dev.latchkey.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What Linux says of a process at one moment, in {@code /proc/PID/status}. Immutable. */
final class ProcessStatus {

    private static final String STATE = "State:\t";

    /** One bit for each signal, from the lowest, in hexadecimal digits. */
    private static final String PENDING = "ShdPnd:\t";

    /** It sleeps or is stopped: a signal that it was sent and has not ended of is pending. */
    private static final String AT_REST = "STt";

    private static final String DUMPS_CORE = "CoreDumping:\t";

    private static final List<String> DEAD = List.of(STATE + "X (dead)");

    private final List<String> lines;

    private ProcessStatus(List<String> lines) {
        this.lines = lines;
    }

    /** On other systems than Linux, all that it is asked is false. */
    static ProcessStatus of(long pid) {
        Path file = file(Long.toString(pid));
        try {
            return new ProcessStatus(Files.readAllLines(file, StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            // Or it cannot be read, as where too many files are open.
            boolean hasEnded = !Files.exists(file) && Files.exists(file("self"));
            return new ProcessStatus(hasEnded ? DEAD : List.of());
        }
    }

    private static Path file(String process) {
        return Path.of("/proc", process, "status");
    }

    private Optional<String> value(String label) {
        return lines.stream()
                .filter(line -> line.startsWith(label))
                .map(line -> line.substring(label.length()))
                .findFirst();
    }

    /**
     * Returns whether it may have acted on a signal: that is not pending, and the process runs and may be about to end, dumps its
     * core, or has ended, of which its parent may not know yet.
     */
    boolean mayHaveActedOn(UnixSignal signal) {
        boolean isAtRest = value(STATE)
                .filter(state -> AT_REST.indexOf(state.charAt(0)) < 0)
                .isEmpty();
        return !isPending(signal) && (!isAtRest || value(DUMPS_CORE).equals(Optional.of("1")));
    }

    /** Returns whether a signal was sent to it that it has not acted on yet. */
    boolean isPending(UnixSignal signal) {
        return value(PENDING)
                .map(signals -> (Long.parseUnsignedLong(signals, 16) & signal.bit()) != 0)
                .orElse(false);
    }
}
