package dev.latchkey.shedlock;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The one thread that ends locks at a time at which their store does not. It starts with the first lock. */
final class EndTimer implements AutoCloseable {

    private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, EndTimer::daemon);

    EndTimer() {
        executor.setRemoveOnCancelPolicy(true);
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    void checkOpen() {
        if (executor.isShutdown()) {
            throw new IllegalStateException("this lock provider was closed");
        }
    }

    /** Has a lock ended after a time; never, if this was closed. */
    Future<?> schedule(Runnable end, Duration delay) {
        try {
            return executor.schedule(end, TimeUnit.NANOSECONDS.convert(delay), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            return new FutureTask<>(end, null);
        }
    }

    @Override
    public void close() {
        executor.shutdown();
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "latchkey-shedlock");
        thread.setDaemon(true);
        return thread;
    }
}
