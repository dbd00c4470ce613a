package dev.latchkey.spi;

import dev.latchkey.Key;
import java.util.concurrent.CompletionStage;

/**
 * A store that can be asked without a thread that waits for its answer: for those who ask several stores at once.
 *
 * <p>No method waits, for a connection neither: what cannot be sent at once is sent later. Each stage completes within the
 * time limit of the store, with what the call it stands for would return or throw, on a thread of the store: what depends on
 * it must not wait, either.
 */
public interface AsyncStore extends PersistingStore {

    /**
     * Begins {@link FencingStore#save(Request, long)}, or {@link #save} if the store is none.
     *
     * @param request who wants what
     * @param proposal a fencing token that would suit the caller; zero for none
     * @return the answer
     */
    CompletionStage<Response> saveAsync(Request request, long proposal);

    /**
     * Begins {@link #delete}.
     *
     * @param key who gives up
     * @return the answer
     */
    CompletionStage<Boolean> deleteAsync(Key key);
}
