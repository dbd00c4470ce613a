package dev.latchkey.etcd;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * When a wait is over at the latest, or for another reason than a grant.
 *
 * @param stopped completes when the caller does not want the lock any more, or the store was closed
 */
record WaitEnd(long endNanos, CompletableFuture<Void> stopped) {

    static WaitEnd of(long endNanos, CompletionStage<?> withdrawn, CompletionStage<?> closed) {
        CompletableFuture<Void> stopped = new CompletableFuture<>();
        var unused = withdrawn.whenComplete((ignored, failure) -> stopped.complete(null));
        var unusedToo = closed.whenComplete((ignored, failure) -> stopped.complete(null));
        return new WaitEnd(endNanos, stopped);
    }

    boolean isOver() {
        return stopped.isDone() || endNanos - System.nanoTime() <= 0;
    }

    /** Waits for something, but not past the end, nor longer than a while. */
    void await(CompletableFuture<?> event, long nanos) throws InterruptedException {
        long left = Math.min(nanos, endNanos - System.nanoTime());
        try {
            CompletableFuture.anyOf(event, stopped).get(Math.max(0, left), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            // Time to look.
        } catch (ExecutionException e) {
            throw new IllegalStateException("neither completes with an exception", e);
        }
    }
}
