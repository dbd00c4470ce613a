package dev.latchkey.spi;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** A store whose server, kernel or memory keeps a queue of waiters, so that a waiter does not poll. */
public interface BlockingStore extends PersistingStore {

    /**
     * Acquires, renews, promotes or demotes as {@link #save} does, but waits in the queue if necessary.
     *
     * <p>If the wait ends other than by a grant, the key holds exactly what it held before. A grant that arrives while
     * the wait ends is undone before this method returns or throws.
     *
     * @param request the request
     * @param maxWait how long to wait at most, on the monotonic clock; more than zero
     * @param withdrawn completes when the caller no longer wants the lock; the wait then ends at once, as a conflict
     * @return the answer; {@link Response.Conflicted} when {@code maxWait} is over
     * @throws InterruptedException if the waiting thread was interrupted before or during the call
     */
    Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn) throws InterruptedException;
}
