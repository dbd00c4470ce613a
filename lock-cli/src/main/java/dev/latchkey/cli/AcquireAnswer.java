package dev.latchkey.cli;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.time.Duration;

/** The result of the attempt to acquire a lock. */
sealed interface AcquireAnswer {

    /**
     * The lock is held.
     *
     * @param locks the factory to close at the end
     * @param waited how long it took
     */
    record Acquired(LockFactory locks, Lock lock, Duration waited) implements AcquireAnswer {

        /** Releases the lock silently, because nobody has relied on it. */
        void undo() {
            locks.close();
        }
    }

    /** Somebody else held the lock until the end of the max wait. */
    record Conflicted(String who) implements AcquireAnswer {}

    /** A signal ended the wait; nothing is held. */
    record Aborted(UnixSignal signal) implements AcquireAnswer {}

    /** The attempt failed; nothing is held, as far as that can be known. */
    record Failed(RuntimeException failure) implements AcquireAnswer {}
}
