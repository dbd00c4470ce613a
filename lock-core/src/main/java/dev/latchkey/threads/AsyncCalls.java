package dev.latchkey.threads;

import dev.latchkey.threads.AsyncResult.Done;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs calls that wait on threads of their own. Thread-safe. */
public final class AsyncCalls {

    private final Executor threads;

    /**
     * Creates a way to run calls.
     *
     * @param threads runs each task on a thread that nothing else needs meanwhile
     */
    public AsyncCalls(Executor threads) {
        this.threads = threads;
    }

    /**
     * A call that waits.
     *
     * @param <T> its result
     */
    public interface Call<T> {

        /**
         * Makes the call.
         *
         * @param withdrawn completes when nobody wants the result any more; the call then ends as soon as it can
         * @return completes with the result, when it may do so later, on a thread that may wait
         * @throws Exception what the future is to fail with
         */
        CompletionStage<Done<T>> call(CompletableFuture<Void> withdrawn) throws Exception;
    }

    /**
     * Starts a call.
     *
     * @param call what to do; it is undone if the future was completed otherwise meanwhile, as by its cancellation
     * @return completes with the result; whoever completes it before withdraws the call
     * @param <T> the type of the result
     */
    public <T> AsyncResult<T> start(Call<T> call) {
        AsyncResult<T> result = new AsyncResult<>(threads);
        CompletableFuture<Void> withdrawn = new CompletableFuture<>();
        var unusedWithdrawal = result.whenComplete((done, failure) -> withdrawn.complete(null));
        threads.execute(() -> {
            if (result.isDone()) {
                return;
            }
            try {
                var unused = call.call(withdrawn).whenComplete((done, failure) -> settle(result, done, failure));
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    /**
     * Starts a call that is made in any case, also if the future is completed before by somebody else, as by its cancellation.
     *
     * @param call what to do
     * @return completes with the result
     * @param <T> the type of the result
     */
    public <T extends @Nullable Object> CompletableFuture<T> startForGood(Supplier<T> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        threads.execute(() -> {
            try {
                result.complete(call.get());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    private static <T> void settle(AsyncResult<T> result, @Nullable Done<T> done, @Nullable Throwable failure) {
        if (done != null) {
            result.settle(done);
        } else {
            result.completeExceptionally(cause(failure));
        }
    }

    private static Throwable cause(@Nullable Throwable failure) {
        if (failure == null) {
            return new IllegalStateException("the call has completed without a result");
        }
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    /**
     * Returns the threads that calls run on.
     *
     * @return runs each task on a thread that nothing else needs meanwhile
     */
    public Executor threads() {
        return threads;
    }
}
