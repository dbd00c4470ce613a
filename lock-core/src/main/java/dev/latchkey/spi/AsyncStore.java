package dev.latchkey.spi;

import dev.latchkey.Key;
import java.util.concurrent.CompletionStage;

/**
 * A store that can be asked without a thread that waits for the answer, so that a caller can ask several stores at once.
 *
 * <p>No method waits, not even for a connection: a request that cannot be sent at once is sent later. Each stage
 * completes within the time limit of the store, with what the synchronous call would return or throw. It completes on a
 * thread of the store, so dependent actions must not wait either.
 */
public interface AsyncStore extends PersistingStore {

    /**
     * Starts {@link FencingStore#save(Request, long)}, or {@link #save} if the store is no {@link FencingStore}.
     *
     * @param request the request
     * @param proposal the fencing token that the caller prefers; zero for none
     * @return the answer
     */
    CompletionStage<Response> saveAsync(Request request, long proposal);

    /**
     * Starts {@link #delete}.
     *
     * @param key the owner that releases
     * @return the answer
     */
    CompletionStage<Boolean> deleteAsync(Key key);
}
