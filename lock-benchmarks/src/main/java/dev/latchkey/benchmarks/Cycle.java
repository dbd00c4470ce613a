package dev.latchkey.benchmarks;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;

/** One thread's way into a lock and out of it. */
interface Cycle {

    /** How long those wait before they ask again that can neither wait nor be woken. */
    long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** Makes ready for what is timed. */
    default void prepare() throws Exception {}

    /** Returns when the lock is held, however long that takes. */
    void take() throws Exception;

    /**
     * Gives it up.
     *
     * @return false if it was not held any more
     */
    boolean giveUp() throws Exception;

    /** What only locks and unlocks. */
    @SuppressWarnings("LockNotBeforeTry") // What is measured is the lock, and who uses it calls both.
    static Cycle of(Lock lock) {
        return new Cycle() {
            @Override
            public void take() {
                lock.lock();
            }

            @Override
            public boolean giveUp() {
                lock.unlock();
                return true;
            }
        };
    }

    /** Asks at once, and again after a pause as long as it is refused. */
    static void poll(Callable<Boolean> attempt) throws Exception {
        while (!attempt.call()) {
            LockSupport.parkNanos(POLL_NANOS);
        }
    }
}
