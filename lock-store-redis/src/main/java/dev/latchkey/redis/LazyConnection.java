package dev.latchkey.redis;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens something once, when it is first asked for, and again after a failure: on a thread of its own, for the driver gives
 * up connecting when its thread is interrupted, and then forgets to close what it has opened. Nobody has to wait for it.
 *
 * <p>What is open can be replaced by another, which is opened beside it: whoever uses the first is not kept waiting.
 */
final class LazyConnection<T> {

    private static final Logger log = LoggerFactory.getLogger(RedisStore.class);

    private final Supplier<T> open;
    private final Consumer<T> end;
    private final Executor threads;
    private final ReentrantLock guard = new ReentrantLock();
    private volatile @Nullable T there;
    private @Nullable CompletableFuture<T> opening;
    private volatile long begunNanos = System.nanoTime();
    private boolean closed;

    private final ConnectionRefresher renewing;

    /**
     * Prepares, and opens nothing.
     *
     * @param open connects, for as long as it takes
     * @param end what to do with it in the end
     */
    LazyConnection(Supplier<T> open, Consumer<T> end) {
        this(open, end, LazyConnection::apart);
    }

    LazyConnection(Supplier<T> open, Consumer<T> end, Executor threads) {
        this.open = open;
        this.end = end;
        this.threads = threads;
        this.renewing = new ConnectionRefresher(threads);
    }

    /** What is open, if it is. */
    @Nullable T there() {
        return there;
    }

    /** Opens it unless it is, or is about to be; cancelled if it was closed. */
    CompletableFuture<T> begin() {
        guard.lock();
        try {
            CompletableFuture<T> begun = opening;
            if (begun == null || (begun.isCompletedExceptionally() && !closed)) {
                begun = new CompletableFuture<>();
                opening = begun;
                begunNanos = System.nanoTime();
                start(begun);
            }
            return begun;
        } finally {
            guard.unlock();
        }
    }

    /**
     * Replaces what is open, or is about to be; again and again where that fails.
     *
     * @param isNeeded whether that is still so
     * @param onRenewed told when the other is in its place, and before the first ends; from any thread, must not wait
     */
    void renew(BooleanSupplier isNeeded, Runnable onRenewed) {
        CompletableFuture<T> begun = begun();
        if (begun != null) {
            var unused = begun.thenRun(
                    () -> renewing.ask(() -> isClosed() || !isNeeded.getAsBoolean() || isRenewed(isNeeded, onRenewed)));
        }
    }

    private @Nullable CompletableFuture<T> begun() {
        guard.lock();
        try {
            return opening;
        } finally {
            guard.unlock();
        }
    }

    private boolean isRenewed(BooleanSupplier isNeeded, Runnable onRenewed) {
        try {
            T opened = open.get();
            T old = isNeeded.getAsBoolean() ? replaced(opened) : opened;
            if (old != opened) {
                onRenewed.run();
            }
            end.accept(old);
            return true;
        } catch (RuntimeException | Error e) {
            log.debug("lock.reconnect_failed", e);
            return false;
        }
    }

    /** Puts it in the place of what is there, which is returned; or returns it, if nothing is there any more. */
    private T replaced(T opened) {
        guard.lock();
        try {
            T old = there;
            if (old == null) {
                return opened;
            }
            there = opened;
            opening = CompletableFuture.completedFuture(opened);
            return old;
        } finally {
            guard.unlock();
        }
    }

    /** How long ago the last {@link #begin()} was that had to open it. */
    long ageNanos() {
        return System.nanoTime() - begunNanos;
    }

    private void start(CompletableFuture<T> result) {
        if (closed) {
            result.cancel(false);
            return;
        }
        try {
            threads.execute(() -> open(result));
        } catch (OutOfMemoryError e) {
            // No thread is to be had: whoever asks next tries again.
            result.completeExceptionally(e);
        }
    }

    private void open(CompletableFuture<T> result) {
        try {
            T opened = open.get();
            if (isKept(opened)) {
                result.complete(opened);
            } else {
                end.accept(opened);
                result.cancel(false);
            }
        } catch (RuntimeException | Error e) {
            result.completeExceptionally(e);
        }
    }

    private boolean isKept(T opened) {
        guard.lock();
        try {
            there = closed ? null : opened;
            return !closed;
        } finally {
            guard.unlock();
        }
    }

    boolean isClosed() {
        guard.lock();
        try {
            return closed;
        } finally {
            guard.unlock();
        }
    }

    /**
     * Ends what is open, or as soon as it is.
     *
     * @param maxWait how long that is waited for
     */
    void close(Duration maxWait) {
        FutureTask<?> ending;
        guard.lock();
        try {
            T open = there;
            ending = new FutureTask<>(() -> Optional.ofNullable(open).ifPresent(end), null);
            closed = true;
            there = null;
        } finally {
            guard.unlock();
        }
        try {
            threads.execute(ending);
        } catch (OutOfMemoryError e) {
            // No thread is to be had: what is open must not stay.
            ending.run();
        }
        try {
            Uninterruptibles.await(ending, maxWait);
        } catch (ExecutionException | TimeoutException e) {
            log.debug("lock.disconnect_failed", e);
        }
    }

    /** Does something that waits, which may connect, on a thread of its own. */
    static <T> CompletableFuture<T> apart(Supplier<T> work) {
        return CompletableFuture.supplyAsync(work, LazyConnection::apart);
    }

    static void apart(Runnable work) {
        Thread thread = new Thread(work, "latchkey-redis-connect");
        thread.setDaemon(true);
        thread.start();
    }
}
