package dev.latchkey.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The list of processes of the system, with their parents. */
final class ProcessList {

    private static final Path OURSELVES = Path.of("/proc/self");

    private ProcessList() {}

    /**
     * Throws if the list cannot be read, for example in a chroot without {@code /proc}, or has the PIDs of another namespace.
     * In that case no process could be signalled, and the processes in the list may belong to somebody else.
     */
    static void check() {
        if (System.getProperty("os.name").equals("Linux") && !showsUs()) {
            throw new CommandException(
                    ExitCode.UNAVAILABLE,
                    "/proc does not show this process: mount the one of this PID namespace, for without it the command"
                            + " could not be stopped",
                    null);
        }
    }

    private static boolean showsUs() {
        try {
            return Files.readSymbolicLink(OURSELVES)
                    .toString()
                    .equals(Long.toString(ProcessHandle.current().pid()));
        } catch (IOException e) {
            return false;
        }
    }
}
