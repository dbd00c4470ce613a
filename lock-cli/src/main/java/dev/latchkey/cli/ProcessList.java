package dev.latchkey.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The list of processes that this system keeps for us: who is whose child, and who lives. */
final class ProcessList {

    private static final Path OURSELVES = Path.of("/proc/self");

    private ProcessList() {}

    /**
     * Throws where it cannot be read, as in a chroot without {@code /proc}, or is of other numbers than ours, as in a PID
     * namespace with the {@code /proc} of another one: nothing that is started could be signalled, and what is found there
     * may be somebody else's process.
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
