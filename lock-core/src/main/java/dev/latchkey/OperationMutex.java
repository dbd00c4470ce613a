package dev.latchkey;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Lets one thread at a time change what the store holds for a Lock. A turn spent waiting for a rival can be withdrawn by
 * another thread; any other turn lasts no longer than one answer of the store.
 */
final class OperationMutex {

    /** Stands for a turn that cannot be withdrawn. */
    private static final CompletableFuture<Void> SHORT = CompletableFuture.completedFuture(null);

    /** Null: free. Else what withdraws the turn that is taken. */
    private final AtomicReference<@Nullable CompletableFuture<Void>> taken = new AtomicReference<>();

    private final AtomicInteger queued = new AtomicInteger();
    private final ReentrantLock guard = new ReentrantLock();
    private final Condition ended = guard.newCondition();

    /** Takes the turn for a call that does not wait for a rival; false at once if another thread waits for one. */
    boolean takeUnlessWaiting() {
        return takeNow(SHORT);
    }

    /** Takes the turn, sending away whoever waits. */
    void takeFromWaiter() {
        while (!taken.compareAndSet(null, SHORT)) {
            CompletableFuture<Void> now = taken.get();
            if (now != null) {
                now.complete(null);
            }
            awaitEndOf(now);
        }
    }

    /** Takes the turn for a wait that {@code signal} can withdraw; false if it was not free before the deadline. */
    boolean takeToWait(CompletableFuture<Void> signal, Deadline end) throws InterruptedException {
        if (taken.compareAndSet(null, signal)) {
            return true;
        }
        if (end.isOver()) {
            return takeNow(signal);
        }
        queued.incrementAndGet();
        try {
            return queue(signal, end);
        } finally {
            queued.decrementAndGet();
        }
    }

    /** A short turn of another thread is no reason to go without having asked. */
    private boolean takeNow(CompletableFuture<Void> signal) {
        while (!taken.compareAndSet(null, signal)) {
            CompletableFuture<Void> now = taken.get();
            if (now != null && now != SHORT) {
                return false;
            }
            awaitEndOf(now);
        }
        return true;
    }

    private boolean queue(CompletableFuture<Void> signal, Deadline end) throws InterruptedException {
        guard.lockInterruptibly();
        try {
            while (!taken.compareAndSet(null, signal)) {
                if (end.isOver()) {
                    return false;
                }
                ended.await(Math.max(1, end.remainingNanos()), TimeUnit.NANOSECONDS);
            }
            return true;
        } finally {
            guard.unlock();
        }
    }

    void end() {
        taken.set(null);
        // Whoever queues counts itself before it looks at the turn again, so it is seen here, or sees the turn free.
        if (queued.get() > 0) {
            guard.lock();
            try {
                ended.signalAll();
            } finally {
                guard.unlock();
            }
        }
    }

    private void awaitEndOf(@Nullable CompletableFuture<Void> mutex) {
        queued.incrementAndGet();
        guard.lock();
        try {
            while (mutex != null && taken.get() == mutex) {
                ended.awaitUninterruptibly();
            }
        } finally {
            guard.unlock();
            queued.decrementAndGet();
        }
    }
}
