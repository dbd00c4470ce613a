package dev.latchkey.benchmarks;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.flock.FlockStore;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The flock store against the bare kernel lock with the least that mints a fencing token: read the last one, write one that
 * is greater.
 */
@State(Scope.Thread)
public class Flock {

    private static final int LAST_TOKEN_BYTES = Long.BYTES;

    private final Path directory = newDirectory();
    private final FlockStore store = new FlockStore(directory.resolve("locks"));
    private final LockFactory locks = new LockFactory(store);
    private final Lock lock = locks.createLock("benchmark");
    private final byte[] record = new byte[LAST_TOKEN_BYTES];
    private RandomAccessFile file = open(directory.resolve("bare.lock"));

    /** For JMH. */
    public Flock() {}

    /** Begins with a counter of zero. */
    @Setup
    public void writeFirstRecord() throws IOException {
        file.write(record);
    }

    /**
     * One exclusive cycle.
     *
     * @return whether it went well
     */
    @Benchmark
    public boolean exclusive() {
        return lock.tryAcquire() && lock.release();
    }

    /**
     * One shared cycle.
     *
     * @return whether it went well
     */
    @Benchmark
    public boolean shared() {
        return lock.tryAcquireShared() && lock.release();
    }

    /**
     * One cycle of {@link java.nio.channels.FileChannel#lock(long, long, boolean)} with the counter.
     *
     * @return the token
     */
    @Benchmark
    public long bareExclusive() throws IOException {
        try (FileLock held = file.getChannel().lock(1 << 30, 1, false)) {
            file.seek(0);
            file.readFully(record);
            long last = ByteBuffer.wrap(record).getLong();
            long token = Math.max(last + 1, System.currentTimeMillis() * 1000);
            ByteBuffer.wrap(record).putLong(token);
            file.seek(0);
            file.write(record);
            return held.isValid() ? token : 0;
        }
    }

    /**
     * One shared cycle of the bare kernel lock: there is no counter to write.
     *
     * @return whether it went well
     */
    @Benchmark
    public boolean bareShared() throws IOException {
        try (FileLock held = file.getChannel().lock(1 << 30, 1, true)) {
            return held.isValid();
        }
    }

    /** Leaves nothing behind. */
    @TearDown
    public void close() throws IOException {
        locks.close();
        store.close();
        file.close();
        List<Path> left;
        try (Stream<Path> files = Files.walk(directory)) {
            left = files.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : left) {
            Files.delete(path);
        }
    }

    private static Path newDirectory() {
        try {
            return Files.createTempDirectory("latchkey-benchmark");
        } catch (IOException e) {
            throw new IllegalStateException("no directory for the lock files", e);
        }
    }

    private static RandomAccessFile open(Path path) {
        try {
            return new RandomAccessFile(path.toFile(), "rw");
        } catch (IOException e) {
            throw new IllegalStateException("no file to lock", e);
        }
    }
}
