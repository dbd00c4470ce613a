package dev.latchkey.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The signals that were sent to a process, and that it has not acted on yet, on Linux. */
final class PendingSignals {

    /** In {@code /proc/PID/status}: one bit for each signal, from the lowest, in hexadecimal digits. */
    private static final String LABEL = "ShdPnd:\t";

    private PendingSignals() {}

    /** Returns false also if that is unknown, or the process has ended. */
    static boolean contain(Process process, UnixSignal signal) {
        try {
            return Files.readString(
                            Path.of("/proc", Long.toString(process.pid()), "status"), StandardCharsets.ISO_8859_1)
                    .lines()
                    .filter(line -> line.startsWith(LABEL))
                    .mapToLong(line -> Long.parseUnsignedLong(line.substring(LABEL.length()), 16))
                    .anyMatch(signals -> (signals & signal.bit()) != 0);
        } catch (IOException e) {
            return false;
        }
    }
}
