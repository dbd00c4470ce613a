package dev.latchkey.flock;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The PID namespace of this process. Only in the first one does every process of the machine have a PID, so only there are
 * the kernel's lists complete.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/pid_namespaces.7.html">pid_namespaces(7)</a>
 */
final class PidNamespace {

    /** The kernel gives the first one this number on every machine: PROC_PID_INIT_INO of linux/proc_ns.h. */
    private static final String FIRST = "pid:[" + 0xEFFF_FFFCL + "]";

    private PidNamespace() {}

    /** Returns false also if that is unknown. */
    static boolean isFirst() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/ns/pid"))
                    .toString()
                    .equals(FIRST);
        } catch (IOException e) {
            return false;
        }
    }
}
