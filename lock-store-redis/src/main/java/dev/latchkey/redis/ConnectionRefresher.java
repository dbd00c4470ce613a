package dev.latchkey.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** Runs a task that waits, at most once a second and until it succeeds. Requests that come before a run begins share that run. */
final class ConnectionRefresher {

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Executor threads;
    private final ReentrantLock guard = new ReentrantLock();
    private boolean underWay;
    private boolean again;
    private long lastNanos = System.nanoTime() - PAUSE_NANOS;

    /**
     * Runs nothing yet.
     *
     * @param threads gives each run a thread of its own
     */
    ConnectionRefresher(Executor threads) {
        this.threads = threads;
    }

    /**
     * Requests a run that begins after this call.
     *
     * @param work returns whether it has succeeded or is no longer wanted
     */
    void ask(BooleanSupplier work) {
        guard.lock();
        try {
            again = underWay;
            if (underWay) {
                return;
            }
            underWay = true;
        } finally {
            guard.unlock();
        }
        begin(work);
    }

    private void begin(BooleanSupplier work) {
        long pause = Math.max(0, lastNanos + PAUSE_NANOS - System.nanoTime());
        CompletableFuture.delayedExecutor(pause, TimeUnit.NANOSECONDS, Runnable::run)
                .execute(() -> runApart(work));
    }

    private void runApart(BooleanSupplier work) {
        try {
            threads.execute(() -> run(work));
        } catch (OutOfMemoryError e) {
            // No thread could be created. Later requests rely on this run, so it is tried again.
            begins();
            begin(work);
        }
    }

    private void begins() {
        guard.lock();
        try {
            again = false;
            lastNanos = System.nanoTime();
        } finally {
            guard.unlock();
        }
    }

    private void run(BooleanSupplier work) {
        begins();
        boolean done = work.getAsBoolean();
        guard.lock();
        try {
            underWay = again || !done;
            if (!underWay) {
                return;
            }
        } finally {
            guard.unlock();
        }
        begin(work);
    }
}
