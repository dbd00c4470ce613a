package dev.latchkey.spi;

import java.util.List;

/**
 * Keeps the permits of semaphores. Every resource that it is asked for names {@link Permits}; a hold of it is a shared hold of
 * so many permits, which ends with its lease. All that {@link PersistingStore} and {@link ExpiringStore} say of a shared hold
 * is so here, except that what decides is the number of permits.
 *
 * <ol>
 *   <li>Permits are granted if, with them, no more are held than the smallest {@link Permits#limit()} of those who hold and of
 *       the one who asks. What is held already stays, however small a limit is.
 *   <li>A store that is a {@link BlockingStore} serves those who wait in the order in which they came, whatever they ask for:
 *       nobody overtakes who waits for many permits.
 *   <li>A semaphore that nobody holds or waits for leaves nothing in the store.
 * </ol>
 *
 * <p>The caller has checked that the resource names permits. Thread-safe.
 */
public interface PermitStore extends ExpiringStore, SharedStore {

    /**
     * Returns the current holders of permits of a semaphore, without an effect on anybody.
     *
     * @param semaphore its name
     * @return all holders, in no particular order; empty if all permits are free
     */
    List<PermitHolder> permitHolders(String semaphore);
}
