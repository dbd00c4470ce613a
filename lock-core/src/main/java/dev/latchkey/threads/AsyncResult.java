package dev.latchkey.threads;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * The result of a call, which can also be given back after it has come, by whoever finds only then that nobody wants it.
 * Thread-safe.
 *
 * @param <T> the type of the result
 */
public final class AsyncResult<T> extends CompletableFuture<T> {

    private final Executor threads;
    private final Consumer<? super T> undo;

    AsyncResult(Executor threads, Consumer<? super T> undo) {
        this.threads = threads;
        this.undo = undo;
    }

    /** Undoes a call that has completed normally, as if this had been cancelled just before. Does not wait for that. */
    public void giveBack() {
        if (isDone() && !isCompletedExceptionally()) {
            T done = join();
            threads.execute(() -> undo.accept(done));
        }
    }
}
