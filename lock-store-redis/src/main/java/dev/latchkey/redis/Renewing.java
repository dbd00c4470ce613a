package dev.latchkey.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** Does something that waits once more for all who ask while it is not under way, at most once a second, until it succeeds. */
final class Renewing {

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ReentrantLock guard = new ReentrantLock();
    private boolean underWay;
    private boolean again;
    private long lastNanos = System.nanoTime() - PAUSE_NANOS;

    /**
     * Has it be done, and begin after this call.
     *
     * @param work returns whether it has succeeded, or is not wanted any more; runs on a thread of its own
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
        CompletableFuture.delayedExecutor(pause, TimeUnit.NANOSECONDS, Opening::apart)
                .execute(() -> run(work));
    }

    private void run(BooleanSupplier work) {
        guard.lock();
        try {
            again = false;
            lastNanos = System.nanoTime();
        } finally {
            guard.unlock();
        }
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
