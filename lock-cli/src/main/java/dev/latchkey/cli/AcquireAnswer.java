package dev.latchkey.cli;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.time.Duration;

/** What came of asking for a lock. */
sealed interface AcquireAnswer {

    /**
     * It is held.
     *
     * @param locks the factory to close at the end
     * @param waited how long it took
     */
    record Acquired(LockFactory locks, Lock lock, Duration waited) implements AcquireAnswer {

        /** Gives it back without a word: nobody has relied on it. */
        void undo() {
            locks.close();
        }
    }

    /** Somebody else held it as long as we were ready to wait. */
    record Conflicted(String who) implements AcquireAnswer {}

    /** A signal ended the waiting; nothing is held. */
    record Aborted(UnixSignal signal) implements AcquireAnswer {}

    /** It could not be asked for; nothing is held, as far as that can be known. */
    record Failed(RuntimeException failure) implements AcquireAnswer {}
}
