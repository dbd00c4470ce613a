package dev.latchkey.spring;

/** Makes sure, in a transaction that is about to be committed, that a lock is held. */
@FunctionalInterface
interface CommitCheck {

    /** Asks the store of the lock, wherever that is: between the answer and the commit it may still be lost. */
    CommitCheck BY_THE_STORE = HeldLock::checkHeld;

    /**
     * Checks one lock.
     *
     * @throws dev.latchkey.LockException if the transaction must not be committed
     */
    void check(HeldLock held);
}
