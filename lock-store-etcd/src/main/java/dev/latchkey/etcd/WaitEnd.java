package dev.latchkey.etcd;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** When one wait is over at the latest, or for another reason than a grant. */
final class WaitEnd {

    private final long endNanos;

    /** Completes when the caller does not want the lock any more, or the store was closed. */
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();

    WaitEnd(long endNanos, CompletionStage<?> withdrawn) {
        this.endNanos = endNanos;
        var unused = withdrawn.whenComplete((ignored, failure) -> stop());
    }

    void stop() {
        stopped.complete(null);
    }

    long endNanos() {
        return endNanos;
    }

    boolean isOver() {
        return stopped.isDone() || endNanos - System.nanoTime() <= 0;
    }

    /** Waits for something, but not past the end, nor longer than a while. */
    void await(CompletableFuture<?> event, long nanos) throws InterruptedException {
        pause(CompletableFuture.anyOf(event, stopped), nanos);
    }

    /** Waits for nothing but the end, and not longer than a while. */
    void pause(long nanos) throws InterruptedException {
        pause(stopped, nanos);
    }

    private void pause(CompletableFuture<?> event, long nanos) throws InterruptedException {
        long left = Math.min(nanos, endNanos - System.nanoTime());
        try {
            event.get(Math.max(0, left), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            // Time to look.
        } catch (ExecutionException e) {
            throw new IllegalStateException("neither completes with an exception", e);
        }
    }
}
