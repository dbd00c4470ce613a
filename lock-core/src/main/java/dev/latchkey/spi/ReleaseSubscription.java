package dev.latchkey.spi;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The subscription of one waiter to one resource. One thread at a time uses it; its stages complete on any thread. */
public interface ReleaseSubscription extends AutoCloseable {

    /**
     * Returns a subscription that never gets a hint, so that its waiter has to poll.
     *
     * @return a subscription whose stages never complete
     */
    static ReleaseSubscription never() {
        return new ReleaseSubscription() {

            @Override
            public CompletionStage<?> next() {
                return new CompletableFuture<>();
            }

            @Override
            public boolean isWatching() {
                return false;
            }

            @Override
            public void close() {}
        };
    }

    /**
     * Returns a stage that completes when the resource may have become free after this call. Take it before you ask the
     * store, so that nothing between the request and the wait is missed. Earlier stages of this subscription may no
     * longer complete.
     *
     * @return a new stage for each call
     */
    CompletionStage<?> next();

    /**
     * Returns whether a hint would arrive now.
     *
     * @return false while the backend sends none; the caller then polls
     */
    boolean isWatching();

    /** Ends the subscription. Idempotent. */
    @Override
    void close();
}
