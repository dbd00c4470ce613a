package dev.latchkey.combined;

import dev.latchkey.threads.DaemonThreads;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads that end holds whose lease is over. Not those of the JDK, which may all be at work for the application, or start a
 * thread for each task and drop one for which there is none: nothing else would end the parts without a lease.
 */
final class LeaseEnds implements Executor {

    private static final int THREADS = 4;

    /** How long to wait for a thread where none was to be had. */
    private static final long LATER_MILLIS = 100;

    private final ThreadPoolExecutor threads;

    LeaseEnds() {
        this(new DaemonThreads());
    }

    private LeaseEnds(DaemonThreads daemons) {
        this(task -> daemons.make(task, "latchkey-lease-end"));
    }

    LeaseEnds(ThreadFactory factory) {
        this.threads =
                new ThreadPoolExecutor(THREADS, THREADS, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
        threads.allowCoreThreadTimeOut(true);
    }

    /** Runs a task, later if no thread is to be had now. */
    @Override
    public void execute(Runnable task) {
        try {
            threads.execute(task);
        } catch (OutOfMemoryError e) {
            // On the JDK's own timer, which has told us that a lease is over, and so has its thread.
            CompletableFuture.delayedExecutor(LATER_MILLIS, TimeUnit.MILLISECONDS, Runnable::run)
                    .execute(() -> execute(task));
        }
    }
}
