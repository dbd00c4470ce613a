package dev.latchkey.threads;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The result of a call, which can also be given back after it has come, by whoever finds only then that nobody wants it.
 * Thread-safe.
 *
 * @param <T> the type of the result
 */
public final class AsyncResult<T> extends CompletableFuture<T> {

    /**
     * What a call has come to.
     *
     * @param result for whoever wants it
     * @param undo ends what the call has begun, if nobody does. It may wait
     * @param <T> the type of the result
     */
    public record Done<T>(T result, Runnable undo) {}

    private final Executor threads;

    /** Whoever takes it runs it: a call is undone once. */
    private final AtomicReference<@Nullable Runnable> undo = new AtomicReference<>();

    AsyncResult(Executor threads) {
        this.threads = threads;
    }

    /** Completes this, or undoes the call if somebody else has. */
    void settle(Done<T> done) {
        // Before it completes: from then on it may be given back.
        undo.set(done.undo());
        if (!complete(done.result())) {
            takeUndo().run();
        }
    }

    private Runnable takeUndo() {
        Runnable taken = undo.getAndSet(null);
        return taken == null ? () -> {} : taken;
    }

    /**
     * Undoes a call that has completed normally, as if this had been cancelled just before. Does not wait for that, and does it
     * once.
     */
    public void giveBack() {
        if (isDone() && !isCompletedExceptionally()) {
            threads.execute(takeUndo());
        }
    }
}
