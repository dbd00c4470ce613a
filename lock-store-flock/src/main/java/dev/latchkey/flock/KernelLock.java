package dev.latchkey.flock;

import dev.latchkey.LockMode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One real file as the kernel sees it: what this JVM as a whole holds on it, through the only channel it has on it.
 *
 * <ol>
 *   <li>Shared holders read-lock the HOLD byte, the exclusive holder write-locks it.
 *   <li>Java cannot convert a lock, so a conversion lets go of HOLD and takes it again. Before, it write-locks the
 *       CONVERSION byte, which only a holder may, and marks the record; afterwards it unlocks CONVERSION.
 *   <li>Whoever gets HOLD exclusively reads the record anyway. If it finds the mark and CONVERSION locked, it got in
 *       between and gives HOLD back at once. If CONVERSION is free, the mark is of an old conversion and is written over.
 *   <li>The fencing token is in the file before anybody learns that HOLD is taken.
 * </ol>
 *
 * <p>Only tryLock and release touch the channel on a caller's thread: reading, writing or locking through it on an
 * interrupted thread would close it, and closing any channel of a file drops all locks this JVM has on that file. The
 * record goes through java.io, which knows no interrupts. Guarded by the lock file's guard, but for {@link #await}.
 */
final class KernelLock {

    /** Far behind the record, so that the mandatory locks of Windows do not keep anybody from reading it. */
    static final long HOLD = 1L << 30;

    static final long CONVERSION = HOLD + 1;

    /** Instead of a fencing token: somebody else holds the file. */
    static final long CONFLICT = 0;

    /** Instead of a fencing token: a holder elsewhere is converting and has let go for a moment only. */
    static final long GAVE_WAY = -1;

    /** Instead of a fencing token: shared holds have none. */
    private static final long SHARED = -2;

    private static final long LONGEST_GAP_NANOS = 10_000_000_000L;
    private static final long GAP_PAUSE_NANOS = 20_000;

    private final OpenFiles openFiles;
    private final Object identity;
    private final FileRecord record = new FileRecord();
    private RandomAccessFile file;
    private FileChannel channel;
    private @Nullable FileLock hold;
    private @Nullable FileLock conversion;
    private int conversions;

    KernelLock(OpenFiles openFiles, RandomAccessFile file, Object identity) {
        this.openFiles = openFiles;
        this.identity = identity;
        this.file = file;
        this.channel = file.getChannel();
    }

    Object identity() {
        return identity;
    }

    /** False after a wait was broken off, which closes the channel. */
    boolean isOpen() {
        return channel.isOpen();
    }

    /** Opens the same file again; false if the path leads to another one. */
    boolean reopen(Path path) throws IOException {
        RandomAccessFile again = openFiles.openIf(path, identity);
        if (again == null) {
            return false;
        }
        file = again;
        channel = again.getChannel();
        hold = null;
        conversion = null;
        return true;
    }

    boolean isHeld() {
        return hold != null;
    }

    /** Returns the fencing token, SHARED, CONFLICT or GAVE_WAY; with the last two nothing is held. */
    long tryTake(LockMode mode) throws IOException {
        return mode == LockMode.EXCLUSIVE ? tryExclusive() : tryShared() ? SHARED : CONFLICT;
    }

    private boolean tryShared() throws IOException {
        if (hold == null) {
            hold = tryLock(HOLD, LockMode.SHARED);
        }
        return hold != null;
    }

    private long tryExclusive() throws IOException {
        if (hold == null) {
            hold = tryLock(HOLD, LockMode.EXCLUSIVE);
        }
        return hold == null ? CONFLICT : admit();
    }

    private long admit() throws IOException {
        boolean admitted = false;
        try {
            record.read(file);
            if (record.isMarked() && conversion == null && isConvertingElsewhere()) {
                return GAVE_WAY;
            }
            long fencingToken = record.writeNextFencingToken(file);
            admitted = true;
            return fencingToken;
        } finally {
            if (!admitted) {
                release();
            }
        }
    }

    private boolean isConvertingElsewhere() throws IOException {
        FileLock probe = tryLock(CONVERSION, LockMode.EXCLUSIVE);
        if (probe == null) {
            return true;
        }
        probe.release();
        return false;
    }

    void release() {
        FileLock released = hold;
        hold = null;
        if (released != null) {
            release(released);
        }
    }

    private void release(FileLock lock) {
        try {
            lock.release();
        } catch (IOException e) {
            // Closing lets go of it all the same, and of nothing else worth keeping: a lock that cannot be let go of
            // would be held for ever.
            close();
        }
    }

    /** Becomes the only one who may convert; false if another holder is converting or waits to. */
    boolean beginConversion() throws IOException {
        if (conversion == null) {
            conversion = tryLock(CONVERSION, LockMode.EXCLUSIVE);
        }
        if (conversion == null) {
            return false;
        }
        conversions++;
        return true;
    }

    void endConversion() {
        FileLock ended = conversion;
        if (--conversions == 0 && ended != null) {
            conversion = null;
            release(ended);
        }
    }

    /** Within a conversion, turns shared into exclusive: the fencing token, or CONFLICT with the shared hold back. */
    long tryPromote() throws IOException {
        mark();
        try {
            release();
            return tryExclusive();
        } finally {
            regainShared();
        }
    }

    /** Within a conversion, turns exclusive into shared. */
    void demote() throws IOException {
        mark();
        release();
        regainShared();
    }

    private void mark() throws IOException {
        record.read(file);
        record.writeMark(file);
    }

    /** Takes shared unless something is held: a writer that got in sees the mark and gives way, so this is soon over. */
    private void regainShared() throws IOException {
        long start = System.nanoTime();
        while (!tryShared()) {
            if (System.nanoTime() - start > LONGEST_GAP_NANOS) {
                throw new IOException(
                        "another process took it in the middle of a promotion or demotion and does not give "
                                + "it back: it is stopped, or no Latchkey; the hold is lost");
            }
            LockSupport.parkNanos(this, GAP_PAUSE_NANOS);
        }
    }

    /** Blocks in the kernel. Not guarded, and never on a caller's thread: an interrupt closes the channel. */
    FileLock await(LockMode mode) throws IOException {
        return channel.lock(HOLD, 1, mode == LockMode.SHARED);
    }

    /** Takes over what {@link #await} got. */
    void adopt(FileLock awaited) {
        hold = awaited;
    }

    /** Takes it for a moment to see how another process holds it; only while nothing is held here. */
    Optional<LockMode> modeElsewhere() throws IOException {
        if (probe(LockMode.EXCLUSIVE)) {
            return Optional.empty();
        }
        return Optional.of(probe(LockMode.SHARED) ? LockMode.SHARED : LockMode.EXCLUSIVE);
    }

    private boolean probe(LockMode mode) throws IOException {
        FileLock probe = tryLock(HOLD, mode);
        if (probe == null) {
            return false;
        }
        release(probe);
        return true;
    }

    /** Closes the file and throws if it holds something foreign; for a file just opened, on which nothing is held. */
    void check() throws IOException {
        boolean isLockFile = false;
        try {
            record.read(file);
            isLockFile = true;
        } finally {
            if (!isLockFile) {
                close();
            }
        }
    }

    /** Reads the record for people; nobody need hold the file. */
    FileRecord.Entry look() throws IOException {
        record.read(file);
        return record.entry();
    }

    void close() {
        hold = null;
        conversion = null;
        try {
            file.close();
        } catch (IOException e) {
            // Nothing was buffered: the descriptor is gone all the same.
        }
    }

    private @Nullable FileLock tryLock(long position, LockMode mode) throws IOException {
        try {
            return channel.tryLock(position, 1, mode == LockMode.SHARED);
        } catch (OverlappingFileLockException e) {
            // Somebody else in this JVM, past the registry: another class loader's copy of this class, or a stranger.
            return null;
        } catch (IOException e) {
            throw new IOException(
                    "the file system does not lock it (" + e.getMessage()
                            + "): choose a directory on a local file system, or mount this one with locks",
                    e);
        }
    }
}
