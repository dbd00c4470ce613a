package dev.latchkey.store;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Durability;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.FenceStore;
import dev.latchkey.spi.PersistingStore;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * One member of a combined store, asked on threads of its own, so that one that hangs delays nobody else.
 *
 * <p>Calls for one token are made one after the other, in the order they were given: what undoes a grant that came late,
 * or a release, never overtakes it.
 */
final class Member {

    private static final int THREADS = 16;
    private static final long IDLE_SECONDS = 10;

    private final int number;
    private final PersistingStore store;
    private final Optional<ExpiringStore> expiring;
    private final Optional<FenceStore> fencing;
    private final ThreadPoolExecutor executor;
    private final ConcurrentMap<String, CompletableFuture<?>> last = new ConcurrentHashMap<>();

    Member(int number, PersistingStore store) {
        this.number = number;
        this.store = store;
        this.expiring = store.capability(ExpiringStore.class);
        this.fencing = store.capability(FenceStore.class).filter(fences -> fences.survives() != Durability.NOTHING);
        this.executor = new ThreadPoolExecutor(
                THREADS, THREADS, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "latchkey-member-" + number);
                    thread.setDaemon(true);
                    return thread;
                });
        executor.allowCoreThreadTimeOut(true);
    }

    int number() {
        return number;
    }

    PersistingStore store() {
        return store;
    }

    Optional<ExpiringStore> expiring() {
        return expiring;
    }

    Optional<FenceStore> fencing() {
        return fencing;
    }

    /** Makes a call that is of use until its caller stops waiting for it; one that has not begun by then is left out. */
    <T> CompletableFuture<T> callBefore(long endNanos, Key key, Supplier<T> call) {
        return call(key, () -> {
            if (System.nanoTime() - endNanos >= 0) {
                throw new LockStorageException(key.resource(), "a member of the combined store is too busy", null);
            }
            return call.get();
        });
    }

    /** Makes a call after all others for this key. */
    <T> CompletableFuture<T> call(Key key, Supplier<T> call) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        CompletableFuture<?> before = last.put(key.token(), answer);
        if (before == null) {
            start(key, call, answer);
        } else {
            var unused = before.whenComplete((theirs, failure) -> start(key, call, answer));
        }
        var unused = answer.whenComplete((mine, failure) -> last.remove(key.token(), answer));
        return answer;
    }

    private <T> void start(Key key, Supplier<T> call, CompletableFuture<T> answer) {
        try {
            executor.execute(() -> {
                try {
                    answer.complete(call.get());
                } catch (Throwable e) {
                    // Errors, too: whoever waits for the answer, and the next call of the key, must go on.
                    answer.completeExceptionally(e);
                }
            });
        } catch (RejectedExecutionException e) {
            answer.completeExceptionally(
                    new LockStorageException(key.resource(), "the combined store was closed", null));
        }
    }

    /** Lets what was begun come to its end: it may give something back. */
    void close() {
        executor.shutdown();
    }

    @Override
    public String toString() {
        return "member " + number + " (" + store.getClass().getSimpleName() + ")";
    }
}
