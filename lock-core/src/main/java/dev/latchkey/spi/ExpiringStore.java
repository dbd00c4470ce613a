package dev.latchkey.spi;

/** A store that ends a hold by itself when its TTL is over. */
public interface ExpiringStore extends PersistingStore {

    /**
     * Starts the TTL of a live hold again, shorter or longer than before; never acquires.
     *
     * @param request who wants it; the mode is that of the hold
     * @return {@link Attempt.Granted} with the new lease, or {@link Attempt.Lost}; never a conflict
     */
    Attempt refresh(Request request);
}
