package dev.latchkey.spi;

/** A store that can also keep the permits of counting semaphores. */
public interface SemaphoreStore extends PersistingStore {

    /**
     * Returns the store of the permits. A semaphore and a lock with the same name have nothing to do with each other.
     *
     * @return the same at each call; it is closed with this store
     */
    PermitStore permits();
}
