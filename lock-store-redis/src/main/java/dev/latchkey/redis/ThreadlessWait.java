package dev.latchkey.redis;

import dev.latchkey.spi.Response;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Takes the place of the thread that waits in a {@link QueuedAcquire}: has a step made on a thread of an executor whenever
 * something has happened, or it is time. Steps are made one after the other.
 */
final class ThreadlessWait {

    private final QueuedAcquire acquire;
    private final QueuedAcquires.Begun begun;
    private final Executor steps;
    private final CompletableFuture<Response> result = new CompletableFuture<>();

    /** How often something has happened that no step has looked at. */
    private final AtomicInteger unseen = new AtomicInteger();

    /** Touched by steps alone. */
    private @Nullable CompletableFuture<Void> timer;

    ThreadlessWait(QueuedAcquires.Begun begun, Executor steps) {
        this.acquire = begun.acquire();
        this.begun = begun;
        this.steps = steps;
    }

    /** Begins, once the first request is sent. */
    CompletableFuture<Response> begin() {
        acquire.whenSomethingHappens(this::happened);
        happened();
        return result;
    }

    /** Called from any thread, also of the driver. */
    private void happened() {
        if (unseen.getAndIncrement() == 0) {
            steps.execute(this::look);
        }
    }

    private void look() {
        int seen;
        do {
            seen = unseen.get();
            if (!result.isDone()) {
                step();
            }
        } while (unseen.addAndGet(-seen) != 0);
    }

    private void step() {
        if (timer != null) {
            timer.cancel(false);
        }
        Response response;
        try {
            response = acquire.step();
        } catch (RuntimeException | Error e) {
            end(e, null);
            return;
        }
        if (response != null) {
            end(null, response);
            return;
        }
        timer = new CompletableFuture<Void>().completeOnTimeout(null, acquire.nanosToNextStep(), TimeUnit.NANOSECONDS);
        var unused = timer.thenRun(this::happened);
    }

    /** What is granted after this is given back. */
    private void end(@Nullable Throwable failure, @Nullable Response response) {
        Throwable cause = failure;
        try {
            begun.close();
        } catch (RuntimeException | Error e) {
            if (cause == null) {
                cause = e;
            } else if (cause != e) {
                cause.addSuppressed(e);
            }
        }
        if (cause == null) {
            result.complete(response);
        } else {
            result.completeExceptionally(cause);
        }
    }
}
