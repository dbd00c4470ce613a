package dev.latchkey.spi;

import java.util.concurrent.CompletionStage;

/** One waiter's watch on one resource. Used by one thread at a time; the stages complete in any. */
public interface ReleaseSubscription extends AutoCloseable {

    /**
     * Returns the watch of one who is never told, and has to ask by itself.
     *
     * @return a watch that never wakes
     */
    static ReleaseSubscription never() {
        return NoSubscription.INSTANCE;
    }

    /**
     * Returns a stage that completes when the resource may have come free after this call. Taken before the store is
     * asked: what happens between the question and the wait is then not missed. An earlier stage of this watch may no
     * longer complete.
     *
     * @return a stage of its own for each call
     */
    CompletionStage<?> next();

    /**
     * Tells whether a hint would arrive now.
     *
     * @return false while the backend does not tell: the caller then asks again by itself
     */
    boolean isWatching();

    /** Ends the watch. Idempotent. */
    @Override
    void close();
}
