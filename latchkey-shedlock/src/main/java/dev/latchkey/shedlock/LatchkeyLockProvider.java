package dev.latchkey.shedlock;

import dev.latchkey.Capability;
import dev.latchkey.Lock;
import dev.latchkey.LockBuilder;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;

/**
 * Keeps the locks of ShedLock in a store of Latchkey, under the names that ShedLock gives them.
 *
 * <p>{@code lockAtMostFor} is the TTL in the store, so that the lock of a process that has died ends by itself. A lock
 * also ends at that time where the store has no leases or counts whole seconds, or {@code lockAtMostFor} is less than a
 * second, which is the shortest TTL: then the provider releases it. Without leases, the lock of a process that has died is
 * free at once.
 *
 * <p>{@code lockAtLeastFor} is the minimum hold time in the store, and also keeps the lock of a process that ends sooner. A
 * store that keeps it longer, as one that counts whole seconds, is told by the provider when the time is over. Where the
 * store has no leases, or the time is less than a second, the provider keeps the lock until then, and {@link #close()} or
 * the exit of the process ends it sooner.
 *
 * <p>Locking never waits. A failure of the store is a {@link LockException}, never the answer that somebody else holds the
 * lock. Thread-safe; the locks are not, as those of other providers.
 */
public final class LatchkeyLockProvider implements ExtensibleLockProvider, AutoCloseable {

    /** A lock that refuses to be extended. */
    private record KeptAlive(JobLock lock) implements SimpleLock {

        @Override
        public void unlock() {
            lock.unlock();
        }
    }

    private final LockFactory locks;
    private final Term.MinHoldBy minHoldBy;
    private final EndTimer timer = new EndTimer();

    /**
     * Creates a provider over a factory that the caller owns: {@link #close()} does not close the factory.
     *
     * @param locks creates the locks
     */
    public LatchkeyLockProvider(LockFactory locks) {
        this.locks = Objects.requireNonNull(locks, "locks");
        this.minHoldBy = locks.supports(Capability.LEASES) ? Term.MinHoldBy.STORE : Term.MinHoldBy.PROCESS;
    }

    /**
     * Acquires a lock if that is possible now.
     *
     * @param configuration the name of the lock, and how long it is held at most and at least
     * @return the lock, which can be extended; empty if somebody else holds it
     * @throws LockException if the store failed or did not answer; anything that it may have granted is given back
     * @throws IllegalArgumentException if the name is too long or not valid Unicode, or if {@code lockAtMostFor} is longer
     *     than 100 years or than the store can keep
     * @throws IllegalStateException if this provider or its factory was closed
     */
    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        Term term = Term.startingNow(configuration, minHoldBy);
        return acquire(configuration, term, locks.lock(configuration.getName()).ttl(term.ttl()))
                .map(Function.identity());
    }

    /**
     * Returns a provider whose locks have a short TTL, which is renewed until they are unlocked: the lock of a process that
     * has died is free after {@code ttl}, not only after {@code lockAtMostFor}. A lock still ends at {@code lockAtMostFor},
     * other than with ShedLock's {@code KeepAliveLockProvider}, and cannot be extended.
     *
     * @param ttl the TTL; the lock is renewed after each third of it
     * @return a provider over the same factory, which ends with this provider
     * @throws IllegalArgumentException if {@code ttl} is out of range: from 3 ms to 100 years
     */
    public LockProvider keepAlive(Duration ttl) {
        // Refuses a wrong TTL here, and not at the first job.
        LockBuilder unused = locks.lock("").ttl(ttl);
        return configuration -> {
            Term term = Term.startingNow(configuration, minHoldBy);
            LockBuilder renewed =
                    locks.lock(configuration.getName()).ttl(ttl).autoRefresh().maxHold(term.ttl());
            return acquire(configuration, term, renewed).map(KeptAlive::new);
        };
    }

    /**
     * Returns a provider for the time of a rollout, in which processes with the old provider still run: it takes the old
     * lock and the new one. Deploy it everywhere before you deploy this provider alone; without this step, a process with
     * the old provider and one with the new provider run a job at the same time. Such a lock cannot be extended.
     *
     * <p>The new lock ends at {@code lockAtMostFor}, also if {@code old} is a {@code KeepAliveLockProvider}, which keeps its own
     * lock beyond that: set {@code lockAtMostFor} above the longest run before the rollout.
     *
     * <p>Both locks are kept for {@code lockAtLeastFor} if both were acquired. If one of them is held by somebody else, the
     * other is free again at once.
     *
     * @param old the provider that is to be replaced
     * @return a provider that takes the new lock first, and unlocks it last
     */
    public LockProvider rolloutFrom(LockProvider old) {
        return new BothLocks(this, Objects.requireNonNull(old, "old"));
    }

    /**
     * Ends locks that are unlocked already and that this provider keeps until their {@code lockAtLeastFor}, and the thread
     * that ends locks where the store does not do it. What is not unlocked stays held until it is unlocked, its TTL is over,
     * or the factory is closed. Idempotent.
     */
    @Override
    public void close() {
        timer.close();
    }

    private Optional<JobLock> acquire(LockConfiguration configuration, Term term, LockBuilder builder) {
        timer.checkOpen();
        Lock lock = builder.minHold(term.minHold()).create();
        try {
            return lock.tryAcquire() ? Optional.of(jobLock(configuration, lock, term)) : Optional.empty();
        } catch (LockStorageException e) {
            throw new LockException(e);
        }
    }

    /** The timer may get no thread: what nobody would end or unlock is given back. */
    private JobLock jobLock(LockConfiguration configuration, Lock lock, Term term) {
        try {
            return new JobLock(configuration, locks, lock, term, timer);
        } catch (RuntimeException | Error e) {
            release(lock, e);
            throw e;
        }
    }

    private static void release(Lock lock, Throwable failure) {
        try {
            boolean unused = lock.release();
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }
}
