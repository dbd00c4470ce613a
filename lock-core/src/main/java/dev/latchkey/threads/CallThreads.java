package dev.latchkey.threads;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The threads of {@link AsyncCalls}: a virtual one for each call from Java 21 on, else a few of the platform, and more once those are
 * stuck. Most calls take as long as one answer of the store: thousands that begin at once need no thousands of threads.
 */
final class CallThreads implements Executor {

    private static final int FEW = Math.max(16, 2 * Runtime.getRuntime().availableProcessors());
    private static final int MOST = 1 << 16;
    private static final long KEEP_ALIVE_SECONDS = 1;
    private static final long STUCK_MILLIS = 50;

    private final ThreadPoolExecutor threads;

    /** Whether somebody is going to look if the threads are stuck. */
    private final AtomicBoolean isWatched = new AtomicBoolean();

    CallThreads(ThreadPoolExecutor threads) {
        this.threads = threads;
        threads.allowCoreThreadTimeOut(true);
    }

    /**
     * Creates the threads of a factory, none of which keeps the JVM from ending.
     *
     * @param threads makes daemons, where there are no virtual threads
     * @return runs each task, also if all tasks before it never return; its threads end by themselves
     */
    static Executor create(ThreadFactory threads) {
        try {
            // Not in the API that this is compiled for.
            return (Executor)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException | RuntimeException e) {
            return platformThreads(threads);
        }
    }

    static Executor platformThreads(ThreadFactory threads) {
        return new CallThreads(new ThreadPoolExecutor(
                FEW, MOST, KEEP_ALIVE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads));
    }

    @Override
    public void execute(Runnable task) {
        threads.execute(task);
        watch();
    }

    private void watch() {
        if (threads.getQueue().isEmpty() || !isWatched.compareAndSet(false, true)) {
            return;
        }
        try {
            lookLater(threads.getCompletedTaskCount());
        } catch (OutOfMemoryError e) {
            // No thread for the timer: the next task tries again. This one is in the queue, and must not seem refused.
            isWatched.set(false);
        }
    }

    /** On the JDK's own timer, which has a thread already where waits have time limits. */
    private void lookLater(long doneBefore) {
        CompletableFuture.delayedExecutor(STUCK_MILLIS, TimeUnit.MILLISECONDS, Runnable::run)
                .execute(() -> lookAndWatch(doneBefore));
    }

    private void lookAndWatch(long doneBefore) {
        try {
            look(doneBefore);
        } catch (OutOfMemoryError e) {
            // As in watch(): else nobody would look again, and there would never be more threads.
            isWatched.set(false);
        }
    }

    /** Twice as many threads if none of them has ended a task meanwhile; few again once they are enough. */
    private void look(long doneBefore) {
        long done = threads.getCompletedTaskCount();
        if (threads.getQueue().isEmpty()) {
            isWatched.set(false);
            if (threads.getActiveCount() < FEW) {
                threads.setCorePoolSize(FEW);
            }
            // What was added since may have found that somebody looks.
            watch();
            return;
        }
        if (done == doneBefore) {
            grow();
        }
        lookLater(done);
    }

    private void grow() {
        try {
            threads.setCorePoolSize(Math.min(MOST, 2 * threads.getCorePoolSize()));
        } catch (OutOfMemoryError e) {
            // There are no more threads to be had now: those that there are go on, and this is tried again.
        }
    }
}
