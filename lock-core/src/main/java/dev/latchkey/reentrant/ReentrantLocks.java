package dev.latchkey.reentrant;

import dev.latchkey.Key;
import dev.latchkey.LockBuilder;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;

/**
 * Creates reentrant locks that belong to a thread: views of the locks of a {@link LockFactory} as
 * {@link java.util.concurrent.locks.Lock} and {@link java.util.concurrent.locks.ReadWriteLock}.
 *
 * <p>Each thread is an owner of its own: a lock excludes other threads and other processes in the same way. A thread that
 * holds a lock may acquire it again, and holds it until it has unlocked it as often. All views of one resource that come
 * from the same {@code ReentrantLocks} count together; views that come from another one are rivals, even in the same thread.
 *
 * <p>A view keeps nothing: create it where you need it, and share it as you like. What is held is kept by the thread that
 * holds it, so that another thread of the process acquires a lock whose lease has ended, as another process does. A thread
 * that ends without unlocking leaves the lock held, until its TTL ends or, if it is renewed, until the factory is closed.
 *
 * <p>Thread-safe.
 */
public final class ReentrantLocks {

    private static final Duration DEFAULT_TTL = Duration.ofSeconds(30);

    private final ThreadHolds holds;

    /**
     * Creates views with a TTL of 30 s, which the factory renews until the lock is unlocked.
     *
     * @param locks creates the locks; the caller closes it, which releases what is held
     */
    public ReentrantLocks(LockFactory locks) {
        this(renewed(locks));
    }

    /**
     * Creates views over locks with options: a TTL, a maximum hold time, listeners, an interrupt on loss.
     *
     * @param options returns a new builder for the name of a resource, such as
     *     {@code name -> locks.lock(name).ttl(ttl).maxHold(limit)}; called for each acquire by a thread that does not hold the
     *     lock. Without {@link LockBuilder#autoRefresh()}, a lock is lost when its TTL ends
     */
    public ReentrantLocks(Function<String, LockBuilder> options) {
        this.holds = new ThreadHolds(Objects.requireNonNull(options, "options"));
    }

    private static Function<String, LockBuilder> renewed(LockFactory locks) {
        Objects.requireNonNull(locks, "locks");
        return resource -> locks.lock(resource).ttl(DEFAULT_TTL).autoRefresh();
    }

    /**
     * Returns the exclusive lock of a resource, which is the write lock of its {@link #readWriteLock}.
     *
     * @param resource the name of what the lock protects: any text of at most {@link Key#MAX_RESOURCE_BYTES} bytes in UTF-8
     * @return a view; two of the same resource are the same lock
     */
    public ThreadOwnedLock lock(String resource) {
        return view(resource, LockMode.EXCLUSIVE);
    }

    /**
     * Returns the read lock and the write lock of a resource. On a store without shared locks, readers exclude one another.
     *
     * @param resource the name of what the lock protects: any text of at most {@link Key#MAX_RESOURCE_BYTES} bytes in UTF-8
     * @return a view; two of the same resource are the same lock
     */
    public ThreadOwnedReadWriteLock readWriteLock(String resource) {
        return new ThreadOwnedReadWriteLock(view(resource, LockMode.SHARED), view(resource, LockMode.EXCLUSIVE));
    }

    /**
     * Returns the exclusive lock of a resource for the time of a rollout, in which processes with the lock of another library
     * still run: it takes that lock and this one. Deploy it everywhere before you deploy this lock alone; without this step, a
     * process with the old lock and one with the new lock hold it at the same time.
     *
     * <p>What either lock throws is thrown, and neither is held more often than before. {@code unlock()} unlocks both, also if
     * the first one fails.
     *
     * @param old the lock that is to be replaced, bound to a thread as this one is, and reentrant if it is acquired again: such
     *     as an {@code RLock} of Redisson or a lock of a {@code LockRegistry} of Spring Integration
     * @param resource the name of what both locks protect, as in {@link #lock}
     * @return a lock that takes {@code old} first, and unlocks it last
     */
    public Lock rolloutFrom(Lock old, String resource) {
        return new BothLocks(Objects.requireNonNull(old, "old"), lock(resource));
    }

    private ThreadOwnedLock view(String resource, LockMode mode) {
        return new ThreadOwnedLock(holds, Objects.requireNonNull(resource, "resource"), mode);
    }
}
