package dev.latchkey.etcd;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** When one wait is over at the latest, or for another reason than a grant. */
final class WaitEnd {

    private final long endNanos;

    /** Whether the caller does not want the lock any more, or the store was closed. */
    private volatile boolean isStopped;

    /**
     * What the waiting thread waits for now. It alone is ended by a stop: a future that lasts as long as the whole wait would
     * remember each look.
     */
    private volatile CompletableFuture<?> awaited = CompletableFuture.completedFuture(null);

    WaitEnd(long endNanos, CompletionStage<?> withdrawn) {
        this.endNanos = endNanos;
        var unused = withdrawn.whenComplete((ignored, failure) -> stop());
    }

    void stop() {
        isStopped = true;
        awaited.complete(null);
    }

    long endNanos() {
        return endNanos;
    }

    boolean isOver() {
        return isStopped || endNanos - System.nanoTime() <= 0;
    }

    /** Waits for something, but not past the end, nor longer than a while. */
    void await(CompletableFuture<?> event, long nanos) throws InterruptedException {
        CompletableFuture<?> either = event.thenRun(() -> {});
        awaited = either;
        // Asked after it was set, so that it is stopped here or by stop().
        if (isStopped) {
            return;
        }
        long left = Math.min(nanos, endNanos - System.nanoTime());
        try {
            either.get(Math.max(0, left), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            // Time to look.
        } catch (ExecutionException e) {
            throw new IllegalStateException("neither completes with an exception", e);
        }
    }

    /** Waits for nothing but the end, and not longer than a while. */
    void pause(long nanos) throws InterruptedException {
        await(new CompletableFuture<Void>(), nanos);
    }
}
