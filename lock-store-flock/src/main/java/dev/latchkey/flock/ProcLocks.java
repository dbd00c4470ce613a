package dev.latchkey.flock;

import dev.latchkey.LockMode;
import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Linux's list of file locks, which shows the holders without locking anything.
 *
 * @see <a href="https://man7.org/linux/man-pages/man5/proc_locks.5.html">proc_locks(5)</a>
 */
final class ProcLocks {

    /** A process that holds a file. */
    record Holding(LockMode mode, long pid) {}

    /**
     * What was read of a list.
     *
     * @param isComplete whether it was so short that none can be missing
     */
    record Listing(List<Holding> holdings, boolean isComplete) {}

    /**
     * The kernel hands the list out in parts of 4 KiB, and counts where the next one begins: if a lock that it has listed is
     * released in between, one is left out. What is left of the part is for an entry that did not fit, with its waiters.
     */
    private static final int SURELY_ONE_PART = 3 * 1024;

    private final Path list;

    ProcLocks(Path list) {
        this.list = list;
    }

    /** Returns the processes that hold a lock file; empty if the system has no such list. */
    Optional<Listing> holdings(Path file) throws IOException {
        if (!Files.isReadable(list)) {
            return Optional.empty();
        }
        long device = ((Number) Files.getAttribute(file, "unix:dev")).longValue();
        long inode = ((Number) Files.getAttribute(file, "unix:ino")).longValue();
        // Not Files.lines, which fails on a thread whose interrupt flag is set.
        try (BufferedReader lines = new BufferedReader(new FileReader(list.toFile(), StandardCharsets.US_ASCII))) {
            List<String> all = lines.lines().toList();
            List<Holding> holdings = all.stream()
                    .map(line -> holding(line, device, inode))
                    .flatMap(Optional::stream)
                    .toList();
            int length = all.stream().mapToInt(line -> line.length() + 1).sum();
            return Optional.of(new Listing(holdings, length <= SURELY_ONE_PART));
        }
    }

    /** Reads a line as {@code 12: POSIX  ADVISORY  WRITE 4711 fe:00:131 1073741824 1073741824}. */
    private static Optional<Holding> holding(String line, long device, long inode) {
        String[] fields = line.trim().split(" +", -1);
        // A line of a waiter has an arrow before the type.
        if (fields.length < 8 || !fields[1].equals("POSIX") || !fields[6].equals(Long.toString(KernelLock.HOLD))) {
            return Optional.empty();
        }
        String[] place = fields[5].split(":", -1);
        if (place.length != 3 || !place[2].equals(Long.toString(inode)) || !isSameDevice(place, device)) {
            return Optional.empty();
        }
        LockMode mode = fields[3].equals("WRITE") ? LockMode.EXCLUSIVE : LockMode.SHARED;
        return Optional.of(new Holding(mode, Long.parseLong(fields[4])));
    }

    /**
     * File systems without a block device, such as btrfs, overlay and tmpfs, may show another device here than in stat:
     * for them only the inode is compared.
     */
    private static boolean isSameDevice(String[] place, long device) {
        long major = ((device >>> 8) & 0xfff) | ((device >>> 32) & ~0xfffL);
        long minor = (device & 0xff) | ((device >>> 12) & ~0xffL);
        return major == 0
                || (Long.parseLong(place[0], 16) == major && Long.parseLong(place[1], 16) == (minor & 0xffffffffL));
    }
}
