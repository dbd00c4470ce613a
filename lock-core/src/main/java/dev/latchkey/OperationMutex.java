package dev.latchkey;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
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

    /**
     * How many want to let go. Nobody else takes the turn before them: a thread that acquires in a loop would take it again
     * before one that was woken can run.
     */
    private final AtomicInteger leaving = new AtomicInteger();

    private final RequestMutex requests = new RequestMutex();
    private final ReentrantLock guard = new ReentrantLock();
    private final Condition ended = guard.newCondition();

    RequestMutex requests() {
        return requests;
    }

    /** What lets go of a hold sends away who waits, and comes after what is in flight. */
    <T> T alone(Supplier<T> end) {
        takeFromWaiter();
        try {
            return requests.run(end);
        } finally {
            end();
        }
    }

    /**
     * Takes the turn for a call that does not wait for a rival, after short turns of other threads; false at once if another
     * thread waits for a rival.
     */
    boolean takeUnlessWaiting() {
        return takeNow(SHORT);
    }

    /** Takes the turn as the next, sending away whoever waits. */
    void takeFromWaiter() {
        leaving.incrementAndGet();
        try {
            while (!taken.compareAndSet(null, SHORT)) {
                CompletableFuture<Void> now = taken.get();
                if (now != null) {
                    now.complete(null);
                    awaitWhile(() -> taken.get() == now);
                }
            }
        } finally {
            // In the turn: those who wait for this are woken by its end.
            leaving.decrementAndGet();
        }
    }

    /** Takes the turn for a wait that {@code signal} can withdraw; false if it was not free before the deadline. */
    boolean takeToWait(CompletableFuture<Void> signal, Deadline end) throws InterruptedException {
        if (takeAfterLeaving(signal)) {
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

    /** Takes the turn after those that are taken, however long these last. */
    void takeUninterruptibly() {
        while (!takeAfterLeaving(SHORT)) {
            CompletableFuture<Void> now = taken.get();
            awaitWhile(() -> leaving.get() > 0 || (now != null && taken.get() == now));
        }
    }

    /** A short turn of another thread is no reason to go without having asked. */
    private boolean takeNow(CompletableFuture<Void> signal) {
        while (!takeAfterLeaving(signal)) {
            CompletableFuture<Void> now = taken.get();
            if (now != null && now != SHORT) {
                return false;
            }
            awaitWhile(() -> leaving.get() > 0 || (now != null && taken.get() == now));
        }
        return true;
    }

    private boolean takeAfterLeaving(CompletableFuture<Void> signal) {
        return leaving.get() == 0 && taken.compareAndSet(null, signal);
    }

    private boolean queue(CompletableFuture<Void> signal, Deadline end) throws InterruptedException {
        guard.lockInterruptibly();
        try {
            while (!takeAfterLeaving(signal)) {
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

    /** Waits for the end of a turn, or of several. */
    private void awaitWhile(BooleanSupplier isTaken) {
        queued.incrementAndGet();
        guard.lock();
        try {
            while (isTaken.getAsBoolean()) {
                ended.awaitUninterruptibly();
            }
        } finally {
            guard.unlock();
            queued.decrementAndGet();
        }
    }

    /**
     * One request in flight for what one Lock holds: whoever asks the store about it waits until the last request was
     * answered or has failed. Begun in the Lock's turn, if in both. A wait for promotion is not in flight, for it may last: it
     * neither ends a lease sooner nor minds being overtaken by what does.
     */
    static final class RequestMutex {

        /** Fair, so that a thread that refreshes in a loop does not keep another from releasing. */
        private final ReentrantLock guard = new ReentrantLock(true);

        /** Waits for the end of the request that is in flight, which lasts no longer than the store's own limit. */
        private void begin() {
            guard.lock();
        }

        <T> T run(Supplier<T> request) {
            begin();
            try {
                return request.get();
            } finally {
                end();
            }
        }

        /** Begins unless a request is in flight. */
        boolean beginsAtOnce() {
            return !guard.isHeldByCurrentThread() && guard.tryLock();
        }

        void end() {
            guard.unlock();
        }
    }
}
