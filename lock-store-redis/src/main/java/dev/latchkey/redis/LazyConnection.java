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
 * Opens a connection when it is first needed, and again after a failure. A thread of its own does that, because the driver gives
 * up connecting when its thread is interrupted, and does not close what it has opened.
 *
 * <p>The connection can be replaced by another one, which is opened first: users of the old one do not wait.
 */
final class LazyConnection<T> {

    private static final Logger log = LoggerFactory.getLogger(RedisStore.class);

    private final Supplier<T> open;
    private final Consumer<T> end;
    private final Runnable onRenewed;
    private final Executor threads;
    private final ReentrantLock guard = new ReentrantLock();
    private volatile @Nullable T there;
    private volatile @Nullable CompletableFuture<T> opening;
    private volatile long begunNanos = System.nanoTime();
    private volatile boolean closed;

    private final ConnectionRefresher renewing;

    /**
     * Opens nothing yet.
     *
     * @param open connects, for as long as it takes
     * @param end closes what was opened
     * @param onRenewed called when another connection is in use, before the old one is closed; from any thread, must not wait
     * @param threads gives each task a thread of its own, as {@link #apart(Runnable)} does
     */
    LazyConnection(Supplier<T> open, Consumer<T> end, Runnable onRenewed, Executor threads) {
        this.open = open;
        this.end = end;
        this.onRenewed = onRenewed;
        this.threads = threads;
        this.renewing = new ConnectionRefresher(threads, isNeeded -> isClosed() || isRenewed(isNeeded));
    }

    /** Returns the open connection; null if there is none. */
    @Nullable T there() {
        return there;
    }

    /** Opens the connection unless it is open or being opened; returns a cancelled future after {@link #close}. */
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
     * Replaces the connection that is open or being opened, and tries again if that fails.
     *
     * @param isNeeded whether it is still to be replaced
     */
    void renew(BooleanSupplier isNeeded) {
        CompletableFuture<T> begun = opening;
        if (begun != null) {
            var unused = begun.thenRun(() -> renewing.ask(isNeeded));
        }
    }

    private boolean isRenewed(BooleanSupplier isNeeded) {
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

    /** Uses the new connection and returns the old one; returns the new one if there is no old one any more. */
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

    /** Returns how long ago the last {@link #begin()} was that had to open it. */
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
            // No thread could be created: the next call tries again.
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
        return closed;
    }

    /**
     * Closes the connection, or as soon as it is open. Those who wait for it are told at once.
     *
     * @param maxWait how long to wait for that
     */
    void close(Duration maxWait) {
        FutureTask<?> ending;
        CompletableFuture<T> begun;
        guard.lock();
        try {
            T open = there;
            ending = new FutureTask<>(() -> Optional.ofNullable(open).ifPresent(end), null);
            begun = opening;
            opening = new CompletableFuture<>();
            opening.cancel(false);
            closed = true;
            there = null;
        } finally {
            guard.unlock();
        }
        if (begun != null) {
            begun.cancel(false);
        }
        try {
            threads.execute(ending);
        } catch (OutOfMemoryError e) {
            // No thread could be created: this one closes it.
            ending.run();
        }
        try {
            Uninterruptibles.await(ending, maxWait);
        } catch (ExecutionException | TimeoutException e) {
            log.debug("lock.disconnect_failed", e);
        }
    }

    /** Runs something that waits, and may connect, on a thread of its own. */
    static <T> CompletableFuture<T> apart(Supplier<T> work) {
        return CompletableFuture.supplyAsync(work, LazyConnection::apart);
    }

    static void apart(Runnable work) {
        Thread thread = new Thread(work, "latchkey-redis-connect");
        thread.setDaemon(true);
        thread.start();
    }
}
