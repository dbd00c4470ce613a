package dev.latchkey.semaphore;

import dev.latchkey.Lock;
import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * Permits of a {@link Semaphore} that were acquired together, and end together: by release, or with their lease. Thread-safe;
 * any thread may release it.
 */
public final class Permit implements AutoCloseable {

    private final Lock lock;
    private final int count;

    Permit(Lock lock, int count) {
        this.lock = lock;
        this.count = count;
    }

    /**
     * Returns how many permits these are.
     *
     * @return at least 1; the same after they were released
     */
    public int count() {
        return count;
    }

    /**
     * Starts the TTL again.
     *
     * @return this
     * @throws dev.latchkey.LockLostException if the permits were lost
     * @throws IllegalStateException if they were released
     * @throws dev.latchkey.LockStorageException if the store failed or did not answer; they may then have been refreshed or not
     */
    public Permit refresh() {
        Lock unused = lock.refresh();
        return this;
    }

    /**
     * Starts a lease of another length once. A shorter one ends the permits sooner.
     *
     * @param once from 3 ms to 100 years, within the limits of the store
     * @return this
     * @throws IllegalArgumentException if {@code once} is out of range
     * @throws dev.latchkey.LockLostException if the permits were lost
     * @throws IllegalStateException if they were released
     * @throws dev.latchkey.LockStorageException if the store failed or did not answer; they may then have been refreshed or not
     */
    public Permit refresh(Duration once) {
        Lock unused = lock.refresh(once);
        return this;
    }

    /**
     * Gives the permits back, so that others can acquire them. Does nothing if they were released or lost before.
     *
     * @return true if they were held until this call
     * @throws dev.latchkey.LockStorageException if the store failed or did not answer; they then end with their lease
     */
    public boolean release() {
        return lock.release();
    }

    /**
     * Releases, for try-with-resources: a failure of the store is logged.
     *
     * @throws dev.latchkey.LockLostException if the permits had been lost, and no call has thrown that before
     */
    @Override
    public void close() {
        lock.close();
    }

    /**
     * Asks the store whether the permits are held.
     *
     * @return true if they are
     * @throws dev.latchkey.LockStorageException if the store failed or did not answer
     */
    public boolean isHeld() {
        return lock.isAcquired();
    }

    /**
     * Returns what is left of the lease, without asking the store.
     *
     * @return zero if the permits are not held any more, as far as this process knows
     */
    public Duration remainingLifetime() {
        return lock.remainingLifetime().orElse(Duration.ZERO);
    }

    /**
     * Adds a listener that is called once if the permits end without a release, at once if they have. It is called on a thread of
     * the factory.
     *
     * @param listener receives the reason. It must return soon, because all listeners of the factory share one thread
     */
    public void onLost(Consumer<? super LossReason> listener) {
        lock.onLost(listener);
    }

    /** Returns the semaphore and how many permits of it, without the token. */
    @Override
    public String toString() {
        return "Permit" + lock.toString().substring("Lock".length());
    }
}
