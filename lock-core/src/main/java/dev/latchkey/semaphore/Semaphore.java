package dev.latchkey.semaphore;

import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockConflictedException.Reason;
import dev.latchkey.spi.PermitHolder;
import dev.latchkey.spi.PermitStore;
import dev.latchkey.spi.Permits;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A counting semaphore: at most so many permits are held at the same time, by all processes together. Each {@link Permit} is a
 * lease: if its holder dies or does not refresh it, the store takes it back when its TTL is over.
 *
 * <pre>{@code
 * Semaphore exports = locks.semaphore("exports", 5).ttl(Duration.ofSeconds(30)).autoRefresh().create();
 * try (Permit permit = exports.acquire(2, Duration.ofSeconds(10))) {
 *     …
 * }
 * }</pre>
 *
 * <p>Where the store has a queue (in memory, Redis), those who wait are served in the order in which they came: nobody
 * overtakes who waits for many permits. On other stores, those who wait ask again and again, and may overtake each other.
 *
 * <p>Processes may know different numbers of permits, as during a rollout. The smallest number of those who hold and of the one
 * who asks counts. So after the number was made smaller, those who hold finish, and nobody acquires anything until fewer are
 * held than the new number; and it can be made larger as soon as nobody holds who knows the smaller one.
 *
 * <p>Thread-safe. There is no owner: any thread may release a {@link Permit}, and each acquire is a holder of its own.
 */
public final class Semaphore {

    private static final Duration FOR_EVER = Duration.ofDays(36_500);

    private final Function<String, Lock> locks;
    private final PermitStore store;
    private final String name;
    private final int permits;

    Semaphore(Function<String, Lock> locks, PermitStore store, String name, int permits) {
        this.locks = locks;
        this.store = store;
        this.name = name;
        this.permits = permits;
    }

    /**
     * Acquires one permit if it is free, without waiting.
     *
     * @return the permit; empty if none is free, or others wait
     * @throws dev.latchkey.LockStorageException if the store failed or did not answer; nothing is held then
     * @throws IllegalStateException if the factory was closed
     */
    public Optional<Permit> tryAcquire() {
        return tryAcquire(1);
    }

    /**
     * Acquires permits if they are free, all of them or none, without waiting.
     *
     * @param count how many: from 1 to {@link #permits()}
     * @return the permits; empty if not all of them are free, or others wait
     * @throws IllegalArgumentException if {@code count} is out of range
     * @throws dev.latchkey.LockStorageException if the store failed or did not answer; nothing is held then
     * @throws IllegalStateException if the factory was closed
     */
    public Optional<Permit> tryAcquire(int count) {
        Lock lock = lock(count);
        return lock.tryAcquireShared() ? Optional.of(new Permit(lock, count)) : Optional.empty();
    }

    /**
     * Acquires permits, all of them or none, and waits for them if necessary.
     *
     * @param count how many: from 1 to {@link #permits()}
     * @param maxWait how long to wait at most; zero tries once
     * @return the permits; empty if they were not free in time, or if the factory was closed during the wait
     * @throws IllegalArgumentException if {@code count} is out of range, or {@code maxWait} is negative
     * @throws InterruptedException if the thread was interrupted before or during the wait; nothing is held then
     * @throws dev.latchkey.LockStorageException if the store failed or did not answer; nothing is held then
     * @throws IllegalStateException if the factory was closed
     */
    public Optional<Permit> tryAcquire(int count, Duration maxWait) throws InterruptedException {
        Lock lock = lock(count);
        return lock.tryAcquireShared(maxWait) ? Optional.of(new Permit(lock, count)) : Optional.empty();
    }

    /**
     * Acquires one permit, and waits for it without limit.
     *
     * @return the permit
     * @throws InterruptedException if the thread was interrupted before or during the wait; nothing is held then
     * @throws LockConflictedException if the factory was closed during the wait
     * @throws dev.latchkey.LockStorageException if the store failed or did not answer; nothing is held then
     * @throws IllegalStateException if the factory was closed
     */
    public Permit acquire() throws InterruptedException {
        return acquire(1);
    }

    /**
     * Acquires permits, all of them or none, and waits for them without limit.
     *
     * @param count how many: from 1 to {@link #permits()}
     * @return the permits
     * @throws IllegalArgumentException if {@code count} is out of range
     * @throws InterruptedException if the thread was interrupted before or during the wait; nothing is held then
     * @throws LockConflictedException if the factory was closed during the wait
     * @throws dev.latchkey.LockStorageException if the store failed or did not answer; nothing is held then
     * @throws IllegalStateException if the factory was closed
     */
    public Permit acquire(int count) throws InterruptedException {
        return acquire(count, FOR_EVER);
    }

    /**
     * Acquires permits, all of them or none, and waits for them if necessary.
     *
     * @param count how many: from 1 to {@link #permits()}
     * @param maxWait how long to wait at most; zero tries once
     * @return the permits
     * @throws IllegalArgumentException if {@code count} is out of range, or {@code maxWait} is negative
     * @throws InterruptedException if the thread was interrupted before or during the wait; nothing is held then
     * @throws LockConflictedException if the permits were not free in time, or the factory was closed during the wait
     * @throws dev.latchkey.LockStorageException if the store failed or did not answer; nothing is held then
     * @throws IllegalStateException if the factory was closed
     */
    public Permit acquire(int count, Duration maxWait) throws InterruptedException {
        Lock lock = lock(count);
        try {
            return new Permit(lock.acquireShared(maxWait), count);
        } catch (LockConflictedException e) {
            if (e.reason() != Reason.HELD_BY_ANOTHER) {
                throw e;
            }
            throw new LockConflictedException(e.resource(), "they were not free within " + maxWait);
        }
    }

    /**
     * Returns how many permits are free now, for people and for monitoring: when it is read, it may be outdated. To find out
     * whether work may start, acquire a permit.
     *
     * @return from 0 to {@link #permits()}; fewer if a holder knows a smaller number of permits
     * @throws dev.latchkey.LockStorageException if the store failed or did not answer
     */
    public int available() {
        int limit = permits;
        long held = 0;
        for (PermitHolder holder : holders()) {
            limit = Math.min(limit, holder.limit());
            held += holder.count();
        }
        return (int) Math.max(0, limit - held);
    }

    /**
     * Returns who holds permits now, for people and for monitoring: when it is read, it may be outdated.
     *
     * @return all holders, in no particular order
     * @throws dev.latchkey.LockStorageException if the store failed or did not answer
     */
    public List<PermitHolder> holders() {
        return store.permitHolders(name);
    }

    /**
     * Returns the name of the semaphore.
     *
     * @return as it was created
     */
    public String name() {
        return name;
    }

    /**
     * Returns how many permits there are.
     *
     * @return as this object was created
     */
    public int permits() {
        return permits;
    }

    /** Returns the name and the number of permits. */
    @Override
    public String toString() {
        return "Semaphore[" + name + ", permits=" + permits + "]";
    }

    private Lock lock(int count) {
        return locks.apply(new Permits(name, count, permits).resource());
    }
}
