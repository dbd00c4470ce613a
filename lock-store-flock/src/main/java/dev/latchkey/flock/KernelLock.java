package dev.latchkey.flock;

import dev.latchkey.LockMode;
import java.io.FileOutputStream;
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
 * What this JVM as a whole has locked in one file, through the only channel that it has on it.
 *
 * <ol>
 *   <li>Shared holders read-lock the HOLD byte, the exclusive holder write-locks it.
 *   <li>Java cannot convert a lock, so a conversion unlocks HOLD and locks it again. Before that it write-locks the
 *       CONVERSION byte, which only a holder may do, and marks the record; afterwards it unlocks CONVERSION.
 *   <li>A process that locks HOLD exclusively reads the record. If the record is marked and CONVERSION is locked, another
 *       process is converting, and HOLD is unlocked at once. If CONVERSION is free, the mark is old and is overwritten.
 *   <li>The fencing token is in the file before the caller learns that it holds the lock.
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

    /** Instead of a fencing token: another process holds the file. */
    static final long CONFLICT = 0;

    /** Instead of a fencing token: another process is converting its hold and has unlocked HOLD only for a moment. */
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

    /** Whether a lock could not be unlocked. Then the file is of no use until it is closed, which unlocks it. */
    private boolean broken;

    KernelLock(OpenFiles openFiles, RandomAccessFile file, Object identity) {
        this.openFiles = openFiles;
        this.identity = identity;
        this.file = file;
        this.channel = file.getChannel();
    }

    Object identity() {
        return identity;
    }

    /** False after a wait was cancelled, which closes the channel. */
    boolean isOpen() {
        return channel.isOpen();
    }

    /** Opens the same file again; returns false if the path leads to another one. */
    boolean reopen(Path path) throws IOException {
        RandomAccessFile again = openFiles.openIf(path, identity);
        if (again == null) {
            return false;
        }
        // A cancelled wait that could not unlock has left the descriptor open: see closeDescriptor.
        close();
        file = again;
        channel = again.getChannel();
        broken = false;
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
                unlockHold();
            }
        }
    }

    private boolean isConvertingElsewhere() throws IOException {
        FileLock probe = tryLock(CONVERSION, LockMode.EXCLUSIVE);
        if (probe == null) {
            return true;
        }
        unlock(probe);
        checkNotBroken();
        return false;
    }

    /** Unlocks HOLD when nobody holds the file any more. */
    void release() {
        unlockHold();
        closeIfBroken();
    }

    private void unlockHold() {
        FileLock released = hold;
        hold = null;
        if (released != null) {
            unlock(released);
        }
    }

    private void unlock(FileLock lock) {
        try {
            lock.release();
        } catch (IOException e) {
            // Not closed yet: that would let other processes in before the holders are notified.
            hold = null;
            broken = true;
        }
    }

    private void checkNotBroken() throws IOException {
        if (broken) {
            throw new IOException("the file system has failed to unlock it");
        }
    }

    /**
     * Closes the file if a lock could not be unlocked, which would be held forever otherwise. Call it when no holder is
     * left.
     */
    void closeIfBroken() {
        if (broken) {
            close();
        }
    }

    /** Locks CONVERSION; returns false if another holder is converting or waits to promote. */
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
            unlock(ended);
        }
    }

    /** Promotes within a conversion. Returns the fencing token, or CONFLICT, with the shared hold restored. */
    long tryPromote() throws IOException {
        mark();
        try {
            unlockHold();
            return tryExclusive();
        } finally {
            regainShared();
        }
    }

    /** Demotes within a conversion. */
    void demote() throws IOException {
        mark();
        unlockHold();
        regainShared();
    }

    private void mark() throws IOException {
        record.read(file);
        record.writeMark(file);
    }

    /** Locks HOLD shared again, unless it is held: a writer that locked it meanwhile sees the mark and unlocks it. */
    private void regainShared() throws IOException {
        long start = System.nanoTime();
        while (!tryShared()) {
            if (System.nanoTime() - start > LONGEST_GAP_NANOS) {
                throw new IOException(
                        "another process locked it during a promotion or demotion and does not unlock it: the "
                                + "process is stopped, or is not Latchkey; the hold is lost");
            }
            LockSupport.parkNanos(this, GAP_PAUSE_NANOS);
        }
    }

    /** Blocks in the kernel. Call it without the guard and never on a caller's thread: an interrupt closes the channel. */
    FileLock await(LockMode mode) throws IOException {
        return channel.lock(HOLD, 1, mode == LockMode.SHARED);
    }

    /** Adopts the lock that {@link #await} returned. */
    void adopt(FileLock awaited) {
        hold = awaited;
    }

    /** Tries the lock for a moment to see how another process holds it; only while nothing is held here. */
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
        unlock(probe);
        closeIfBroken();
        return true;
    }

    /** Closes the file and throws if it is not a lock file; for a file just opened, on which nothing is held. */
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

    /** Reads the record for display; the file need not be held. */
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
            closeDescriptor();
        }
    }

    /**
     * Closes the descriptor of a channel that was not closed because it could not unlock. The garbage collector would
     * close it some time later, and so drop the locks that this process has on the file by then.
     */
    private void closeDescriptor() {
        try {
            new FileOutputStream(file.getFD()).close();
        } catch (IOException e) {
            // Nothing was buffered, and the descriptor is closed in any case.
        }
    }

    private @Nullable FileLock tryLock(long position, LockMode mode) throws IOException {
        checkNotBroken();
        try {
            return channel.tryLock(position, 1, mode == LockMode.SHARED);
        } catch (OverlappingFileLockException e) {
            // Other code in this JVM has locked it: a copy of this class in another class loader, or foreign code.
            return null;
        } catch (IOException e) {
            throw new IOException(
                    "the file system does not support file locks (" + e.getMessage()
                            + "): choose a directory on a local file system, or mount this one with locks",
                    e);
        }
    }
}
