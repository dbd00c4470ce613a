package dev.latchkey.spi;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** A store whose server, kernel or memory keeps the queue of those who wait: a waiter does not ask again and again. */
public interface BlockingStore extends PersistingStore {

    /**
     * As {@link #save}, but waits its turn.
     *
     * <p>However the wait ends other than by a grant, the key holds exactly what it held before, and a grant that
     * crosses the end of the wait is undone before this returns or throws.
     *
     * @param request who wants what
     * @param maxWait how long to wait at the most, on the monotonic clock, more than zero
     * @param withdrawn completes when the caller no longer wants it; the wait then ends at once as a conflict
     * @return what came of it; {@link Response.Conflicted} when the wait is over
     * @throws InterruptedException if the waiting thread was interrupted, before the call or in it
     */
    Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn) throws InterruptedException;
}
