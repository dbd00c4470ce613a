package dev.latchkey.flock;

import dev.latchkey.LockMode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** What the kernel says that this process holds, whatever the store believes. */
final class KernelView {

    private KernelView() {}

    static List<LockMode> heldHere(Path file) throws IOException {
        return new ProcLocks(Path.of("/proc/locks"))
                .holdings(file).orElseThrow().holdings().stream()
                        .filter(holding ->
                                holding.pid() == ProcessHandle.current().pid())
                        .map(ProcLocks.Holding::mode)
                        .toList();
    }
}
