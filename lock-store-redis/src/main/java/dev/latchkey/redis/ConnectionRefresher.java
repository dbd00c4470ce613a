package dev.latchkey.redis;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** Runs a task that waits, at most once a second and until it succeeds. Requests that come before a run begins share that run. */
final class ConnectionRefresher {

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Executor threads;
    private final Predicate<BooleanSupplier> task;
    private final ReentrantLock guard = new ReentrantLock();
    private final Set<BooleanSupplier> reasons = new LinkedHashSet<>();
    private boolean underWay;
    private long lastNanos = System.nanoTime() - PAUSE_NANOS;

    /**
     * Runs nothing yet.
     *
     * @param threads gives each run a thread of its own
     * @param task returns whether it has succeeded; it is passed whether it is still needed
     */
    ConnectionRefresher(Executor threads, Predicate<BooleanSupplier> task) {
        this.threads = threads;
        this.task = task;
    }

    /**
     * Requests a run that begins after this call.
     *
     * @param isNeeded whether it is still needed; the same object if it is asked for again, as in a long outage
     */
    void ask(BooleanSupplier isNeeded) {
        guard.lock();
        try {
            reasons.add(isNeeded);
            if (underWay) {
                return;
            }
            underWay = true;
        } finally {
            guard.unlock();
        }
        begin();
    }

    private void begin() {
        long pause = Math.max(0, lastNanos + PAUSE_NANOS - System.nanoTime());
        CompletableFuture.delayedExecutor(pause, TimeUnit.NANOSECONDS, Runnable::run)
                .execute(this::runApart);
    }

    private void runApart() {
        try {
            threads.execute(this::run);
        } catch (OutOfMemoryError e) {
            // No thread could be created. Later requests rely on this run, so it is tried again.
            end(begun());
        }
    }

    private List<BooleanSupplier> begun() {
        guard.lock();
        try {
            lastNanos = System.nanoTime();
            List<BooleanSupplier> shared = List.copyOf(reasons);
            reasons.clear();
            return shared;
        } finally {
            guard.unlock();
        }
    }

    private void run() {
        List<BooleanSupplier> shared = begun();
        BooleanSupplier isNeeded = () -> shared.stream().anyMatch(BooleanSupplier::getAsBoolean);
        boolean done = !isNeeded.getAsBoolean() || task.test(isNeeded);
        end(done ? List.of() : shared);
    }

    private void end(List<BooleanSupplier> left) {
        guard.lock();
        try {
            reasons.addAll(left);
            underWay = !reasons.isEmpty();
            if (!underWay) {
                return;
            }
        } finally {
            guard.unlock();
        }
        begin();
    }
}
