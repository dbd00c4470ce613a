package dev.latchkey.spring;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Where locks are waited for and released that no thread of the application works under. As many as wait, and shared with nobody: in a
 * pool with a limit, those that wait would keep out the release that they wait for, or the work under the lock.
 */
final class BlockingThreads {

    /** Refuses what there is no thread for. */
    static final ExecutorService POOL =
            new ThreadPoolExecutor(
                    0, Integer.MAX_VALUE, 1, TimeUnit.MINUTES, new SynchronousQueue<>(), BlockingThreads::daemon) {
                @Override
                public void execute(Runnable task) {
                    ClassLoader loader = Thread.currentThread().getContextClassLoader();
                    try {
                        super.execute(() -> runWith(loader, task));
                    } catch (OutOfMemoryError e) {
                        throw new RejectedExecutionException("no thread to be had", e);
                    }
                }
            };

    private BlockingThreads() {}

    /** It outlives what it does, and has nothing of the thread that asks first. */
    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(null, task, "latchkey-blocking", 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        return thread;
    }

    /** What is called may look for classes of the application. */
    private static void runWith(@Nullable ClassLoader loader, Runnable task) {
        Thread.currentThread().setContextClassLoader(loader);
        try {
            task.run();
        } finally {
            Thread.currentThread().setContextClassLoader(null);
        }
    }

    /** In this thread if there is none to be had: a release must not be lost. */
    static void run(Runnable task) {
        try {
            POOL.execute(task);
        } catch (RejectedExecutionException e) {
            task.run();
        }
    }
}
