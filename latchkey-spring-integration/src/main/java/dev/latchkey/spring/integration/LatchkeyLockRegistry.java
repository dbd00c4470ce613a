package dev.latchkey.spring.integration;

import dev.latchkey.Lock;
import dev.latchkey.LockBuilder;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.reentrant.ReentrantLocks;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;
import org.springframework.scheduling.TaskScheduler;

/**
 * A lock registry of Spring Integration over any store of Latchkey: reentrant locks, each owned by a thread.
 *
 * <p>Locks of two registries are rivals, even in the same thread. Within a registry, each thread is an owner of its own: when
 * the lease of one has ended, another thread of the process acquires the lock as another process does. Waiters are woken by the
 * store where it can, and served in its order.
 *
 * <ul>
 * <li>What fails while a lock is acquired is a {@link org.springframework.dao.CannotAcquireLockException}, with the failure as
 *     its cause.
 * <li>{@code unlock()} throws a {@link java.util.ConcurrentModificationException} if the lock was lost before, an
 *     {@link IllegalStateException} if another thread holds it or none does, and a {@link DataAccessResourceFailureException}
 *     if the store failed; the thread holds it no more in any case.
 * <li>{@code tryLock} with a time throws {@link InterruptedException} if the thread is interrupted.
 * <li>There are no conditions.
 * </ul>
 *
 * <p>The registry keeps no locks, so that there is nothing to bound or to expire: what is held is kept by the thread that holds
 * it. Thread-safe.
 */
public final class LatchkeyLockRegistry
        implements ExpirableLockRegistry<DistributedLock>, RenewableLockRegistry<DistributedLock> {

    private static final Duration DEFAULT_TTL = Duration.ofSeconds(60);

    private final ReentrantLocks locks;

    /** Set while the context starts, and read by all threads. */
    private volatile boolean isRenewed;

    /**
     * Creates a registry whose locks have a TTL of 60 s, which is renewed only after {@link #setRenewalTaskScheduler}.
     *
     * @param locks creates the locks; the caller closes it
     */
    public LatchkeyLockRegistry(LockFactory locks) {
        this(locks, DEFAULT_TTL);
    }

    /**
     * Creates a registry whose locks have a TTL, which is renewed only after {@link #setRenewalTaskScheduler}.
     *
     * @param locks creates the locks; the caller closes it
     * @param expireAfter the TTL: from 3 ms to 100 years, within the limits of the store
     * @throws IllegalArgumentException if the TTL is out of range
     */
    public LatchkeyLockRegistry(LockFactory locks, Duration expireAfter) {
        this(withTtl(locks, expireAfter));
    }

    /**
     * Creates a registry over locks with options.
     *
     * @param options returns a new builder for the name of a lock, such as
     *     {@code name -> locks.lock(name).ttl(ttl).autoRefresh().interruptOnLoss()}; called for each acquire by a thread that
     *     does not hold the lock
     */
    public LatchkeyLockRegistry(Function<String, LockBuilder> options) {
        Objects.requireNonNull(options, "options");
        this.locks = new ReentrantLocks(name -> isRenewed ? options.apply(name).autoRefresh() : options.apply(name));
    }

    private static Function<String, LockBuilder> withTtl(LockFactory locks, Duration ttl) {
        // Refuses a wrong TTL here, and not at the first lock.
        LockBuilder unused = locks.lock("").ttl(ttl);
        return name -> locks.lock(name).ttl(ttl);
    }

    /**
     * Returns the lock of a name. It keeps nothing: two of the same name are the same lock.
     *
     * @param lockKey the name, a {@code String}
     * @return the lock
     * @throws IllegalArgumentException if the name is not a {@code String}
     */
    @Override
    public DistributedLock obtain(Object lockKey) {
        return new RegistryLock(locks.lock(name(lockKey)));
    }

    /**
     * Starts the TTL of a lock again, which is the one that it was acquired with. The current thread must hold it.
     *
     * @param lockKey the name, a {@code String}
     * @throws IllegalStateException if the thread does not hold the lock, or has lost it
     * @throws DataAccessResourceFailureException if the store failed or did not answer
     * @throws IllegalArgumentException if the name is not a {@code String}
     */
    @Override
    public void renewLock(Object lockKey) {
        renew(name(lockKey), Lock::refresh);
    }

    /**
     * Starts a lease of the given length for a lock, once. The current thread must hold it.
     *
     * @param lockKey the name, a {@code String}
     * @param ttl the length of the lease from now on
     * @throws IllegalStateException if the thread does not hold the lock, or has lost it
     * @throws DataAccessResourceFailureException if the store failed or did not answer
     * @throws IllegalArgumentException if the name is not a {@code String}, or {@code ttl} is out of range
     */
    @Override
    public void renewLock(Object lockKey, Duration ttl) {
        renew(name(lockKey), hold -> hold.refresh(ttl));
    }

    private void renew(String name, Consumer<Lock> renewal) {
        Lock hold = locks.lock(name)
                .hold()
                .orElseThrow(() -> new IllegalStateException("Could not renew mutex at " + name + ": not held"));
        try {
            renewal.accept(hold);
        } catch (LockLostException e) {
            throw new IllegalStateException("Could not renew mutex at " + name, e);
        } catch (LockStorageException e) {
            throw new DataAccessResourceFailureException("Failed to renew mutex at " + name, e);
        }
    }

    /**
     * Has all locks that are acquired from now on renewed until they are unlocked, after each third of their TTL.
     *
     * @param renewalTaskScheduler not used: the factory of the locks renews them
     */
    @Override
    public void setRenewalTaskScheduler(TaskScheduler renewalTaskScheduler) {
        this.isRenewed = true;
    }

    /**
     * Does nothing, for the registry keeps no locks.
     *
     * @param age is ignored
     */
    @Override
    public void expireUnusedOlderThan(long age) {
        // There is nothing to remove.
    }

    private static String name(Object lockKey) {
        if (lockKey instanceof String name) {
            return name;
        }
        throw new IllegalArgumentException("the name of a lock must be a String, but is a "
                + lockKey.getClass().getName());
    }
}
