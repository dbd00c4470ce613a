package dev.latchkey.spring;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Where locks are waited for and released that no thread of the application works under. As many as wait, and shared with nobody: in a
 * pool with a limit, those that wait would keep out the release that they wait for, or the work under the lock.
 */
final class BlockingThreads {

    static final ExecutorService POOL = Executors.newCachedThreadPool(BlockingThreads::daemon);

    private BlockingThreads() {}

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(null, task, "latchkey-blocking", 0, false);
        thread.setDaemon(true);
        return thread;
    }

    /** In this thread if there is none to be had: a release must not be lost. */
    static void run(Runnable task) {
        try {
            POOL.execute(task);
        } catch (OutOfMemoryError e) {
            task.run();
        }
    }
}
