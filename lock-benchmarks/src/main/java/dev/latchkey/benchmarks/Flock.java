package dev.latchkey.benchmarks;

import dev.latchkey.LockFactory;
import dev.latchkey.flock.FlockStore;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * The flock store against the bare kernel lock with the least that mints a fencing token: read the last one, write one that
 * is greater. The kernel knows processes and no threads: between these the bare one has a lock of the JDK.
 */
final class Flock implements Contest {

    private static final Contender LATCHKEY = Contender.latchkey(directory -> Ours.exclusive(locks(directory)));
    private static final Contender BARE = Contender.floor(
            "FileChannel.lock + counter",
            "order of arrival, sharing by threads of one JVM, ways to stop waiting",
            directory -> bare(open(directory)));

    private static final List<Contender> ALL = List.of(
            LATCHKEY,
            Contender.latchkey("a new Lock for each cycle", directory -> Ours.newEachTime(locks(directory))),
            Contender.latchkeyShared(directory -> Ours.shared(locks(directory))),
            BARE,
            Contender.floor(
                            "FileChannel.lock, shared",
                            "sharing by threads of one JVM, ways to stop waiting",
                            directory -> bareShared(open(directory).getChannel()))
                    .shared());

    @Override
    public String store() {
        return "flock";
    }

    @Override
    public List<Contender> contenders() {
        return ALL;
    }

    @Override
    public List<Table> tables() {
        List<Contender> contended = List.of(LATCHKEY, BARE);
        return List.of(
                Table.alone(Placement.ONE_PROCESSOR, ALL),
                Table.threads(Placement.ONE_PROCESSOR, contended),
                Table.processes(Placement.ONE_PROCESSOR, contended));
    }

    @Override
    public Servers start() {
        Path directory;
        try {
            directory = Files.createTempDirectory("latchkey-benchmark");
        } catch (IOException e) {
            throw new UncheckedIOException("no directory for the lock files", e);
        }
        return Servers.none(directory.toString(), () -> delete(directory));
    }

    private static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the lock files could not be deleted", e);
        }
    }

    private static LockFactory locks(String directory) {
        return new LockFactory(new FlockStore(Path.of(directory, "locks")));
    }

    private static RandomAccessFile open(String directory) throws IOException {
        return new RandomAccessFile(Path.of(directory, "bare.lock").toFile(), "rw");
    }

    private static Contender.Client bare(RandomAccessFile file) {
        ReentrantLock threads = new ReentrantLock();
        byte[] record = new byte[Long.BYTES];
        return resource -> new Cycle() {
            private FileLock held = lockedOnce(file.getChannel());

            @Override
            public void take() throws IOException {
                threads.lock();
                held = file.getChannel().lock(1 << 30, 1, false);
                file.seek(0);
                long last = file.read(record) == record.length
                        ? ByteBuffer.wrap(record).getLong()
                        : 0;
                ByteBuffer.wrap(record).putLong(Math.max(last + 1, System.currentTimeMillis() * 1000));
                file.seek(0);
                file.write(record);
            }

            @Override
            public boolean giveUp() throws IOException {
                boolean isHeld = held.isValid();
                held.release();
                threads.unlock();
                return isHeld;
            }
        };
    }

    private static Contender.Client bareShared(FileChannel channel) {
        return resource -> new Cycle() {
            private FileLock held = lockedOnce(channel);

            @Override
            public void take() throws IOException {
                held = channel.lock(1 << 30, 1, true);
            }

            @Override
            public boolean giveUp() throws IOException {
                boolean isHeld = held.isValid();
                held.release();
                return isHeld;
            }
        };
    }

    /** A lock that is given up again, of a byte that nobody else wants. */
    private static FileLock lockedOnce(FileChannel channel) throws IOException {
        FileLock lock = channel.lock((1 << 30) + 1, 1, false);
        lock.release();
        return lock;
    }

    @Override
    public List<String> libraries() {
        return List.of();
    }
}
