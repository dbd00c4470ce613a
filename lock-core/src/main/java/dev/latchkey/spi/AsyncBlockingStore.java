package dev.latchkey.spi;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/** A {@link BlockingStore} whose waiters need no thread while they wait. */
public interface AsyncBlockingStore extends BlockingStore {

    /**
     * Starts {@link #waitAndSave}, and returns without having waited for anything but one answer of the backend.
     *
     * @param request the request
     * @param maxWait how long to wait at most, on the monotonic clock; more than zero
     * @param withdrawn completes when the caller no longer wants the lock; the wait then ends as soon as possible, as a
     *     conflict
     * @param steps runs what the wait has to do now and then, one step at a time; a step may wait for one answer of the
     *     backend
     * @return completes on a thread of {@code steps}, with what {@link #waitAndSave} would return or throw
     */
    CompletionStage<Response> waitAndSaveAsync(
            Request request, Duration maxWait, CompletionStage<?> withdrawn, Executor steps);
}
