package dev.latchkey.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The process group of a process, on Linux. */
final class ProcessGroup {

    /** Its position in {@code /proc/PID/stat} after the name, which may contain any character: {@code S 1 2 …}. */
    private static final int INDEX = 2;

    private ProcessGroup() {}

    /** Returns whether a process is in another group than this one; false if that is unknown or the process has ended. */
    static boolean isAnother(ProcessHandle process) {
        Optional<String> ours = of(ProcessHandle.current());
        return ours.isPresent()
                && of(process).filter(group -> !group.equals(ours.get())).isPresent();
    }

    private static Optional<String> of(ProcessHandle process) {
        try {
            String stat = Files.readString(
                    Path.of("/proc", Long.toString(process.pid()), "stat"), StandardCharsets.ISO_8859_1);
            return Optional.of(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[INDEX]);
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
