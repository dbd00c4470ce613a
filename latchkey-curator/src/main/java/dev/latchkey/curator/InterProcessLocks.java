package dev.latchkey.curator;

import dev.latchkey.Key;
import dev.latchkey.LockBuilder;
import dev.latchkey.LockFactory;
import dev.latchkey.reentrant.ReentrantLocks;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;
import org.apache.curator.framework.recipes.locks.InterProcessLock;

/**
 * Creates locks with the interface of Curator in any store of Latchkey, instead of {@code InterProcessMutex} and
 * {@code InterProcessReadWriteLock}. They are not known to those of Curator, even in the same ensemble.
 *
 * <p>As with Curator, a lock is owned by a thread, is reentrant, and has to be released as often as it was acquired. Two lock
 * objects of one path are rivals, even in the same thread: share one object in the process.
 *
 * <ul>
 * <li>A lock that was lost says so: {@code release()}, and each attempt of its thread to acquire it once more, throws an
 *     {@link IllegalMonitorStateException}, and {@code isAcquiredInThisProcess()} returns false.
 * <li>A store that fails is a {@link dev.latchkey.LockStorageException}.
 * <li>A reader that acquires the write lock is promoted when the other readers are gone. If another one waits for that
 *     already, it is refused: by a {@link dev.latchkey.LockConflictedException}, or false from an acquire with a time.
 * </ul>
 *
 * <p>Thread-safe, as the locks are.
 */
public final class InterProcessLocks {

    private static final Duration DEFAULT_TTL = Duration.ofSeconds(30);

    private final Function<String, LockBuilder> options;

    /**
     * Creates locks with a TTL of 30 s, which the factory renews until they are released. On stores with sessions, such as
     * ZooKeeper, the session decides instead.
     *
     * @param locks creates the locks; the caller closes it, which releases what is held
     */
    public InterProcessLocks(LockFactory locks) {
        this(renewed(locks));
    }

    /**
     * Creates locks with options.
     *
     * @param options returns a new builder for the path of a lock, such as
     *     {@code path -> locks.lock(path).ttl(ttl).autoRefresh().interruptOnLoss()}; called for each acquire by a thread that
     *     does not hold the lock
     */
    public InterProcessLocks(Function<String, LockBuilder> options) {
        this.options = Objects.requireNonNull(options, "options");
    }

    private static Function<String, LockBuilder> renewed(LockFactory locks) {
        Objects.requireNonNull(locks, "locks");
        return path -> locks.lock(path).ttl(DEFAULT_TTL).autoRefresh();
    }

    /**
     * Creates an exclusive lock.
     *
     * @param path the name of what the lock protects: any text of at most {@link Key#MAX_RESOURCE_BYTES} bytes in UTF-8
     * @return a lock that holds nothing yet
     */
    public InterProcessLock mutex(String path) {
        return new ThreadOwnedMutex(new ReentrantLocks(options).lock(path));
    }

    /**
     * Creates a read lock and a write lock. On a store without shared locks, readers exclude one another.
     *
     * @param path the name of what the locks protect: any text of at most {@link Key#MAX_RESOURCE_BYTES} bytes in UTF-8
     * @return two locks that hold nothing yet
     */
    public ReadWriteMutexes readWriteLock(String path) {
        var both = new ReentrantLocks(options).readWriteLock(path);
        return new ReadWriteMutexes(new ThreadOwnedMutex(both.readLock()), new ThreadOwnedMutex(both.writeLock()));
    }

    /**
     * The two locks of one path.
     *
     * @param readLock is held by any number of threads and processes at once
     * @param writeLock is held alone. Its thread may acquire the read lock too, and then release the write lock without a gap
     */
    public record ReadWriteMutexes(InterProcessLock readLock, InterProcessLock writeLock) {}
}
