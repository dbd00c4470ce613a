package dev.latchkey.spring;

import dev.latchkey.spi.PersistingStore;
import org.jspecify.annotations.Nullable;

/** Makes sure, in a transaction that is about to be committed, that a lock is held. */
@FunctionalInterface
interface CommitCheck {

    /** Asks the store of the lock, wherever that is: between the answer and the commit it may still be lost. */
    CommitCheck BY_THE_STORE = (held, transaction) -> held.checkHeld();

    /** Knows how to check the locks of a store. */
    @FunctionalInterface
    interface OfStore {
        CommitCheck of(PersistingStore store);
    }

    /**
     * Checks one lock.
     *
     * @param transaction what the manager of the transaction knows it by; null if that is not known
     * @throws dev.latchkey.LockException if the transaction must not be committed
     */
    void check(HeldLock held, @Nullable Object transaction);
}
