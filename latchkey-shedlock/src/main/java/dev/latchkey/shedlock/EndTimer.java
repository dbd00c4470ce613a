package dev.latchkey.shedlock;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The one thread that ends locks at a time at which their store does not. It lasts while there are any. */
final class EndTimer implements AutoCloseable {

    private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, EndTimer::daemon);

    /** The ends of locks that are unlocked, but kept for a while. */
    private final Set<Runnable> kept = ConcurrentHashMap.newKeySet();

    EndTimer() {
        executor.setKeepAliveTime(1, TimeUnit.SECONDS);
        executor.allowCoreThreadTimeOut(true);
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

    /** Has an unlocked lock ended after the rest of the time for which it is kept; by close() at the latest, and once. */
    void endUnlocked(Runnable end, Duration rest) {
        var ending = new FutureTask<@Nullable Object>(end, null);
        kept.add(ending);
        Future<?> unused = schedule(() -> endNow(ending), rest);
        if (executor.isShutdown()) {
            // close() may have gone through the kept ones before.
            endNow(ending);
        }
    }

    private void endNow(Runnable ending) {
        ending.run();
        kept.remove(ending);
    }

    /** Ends what is unlocked, and only kept, now. */
    @Override
    public void close() {
        executor.shutdown();
        kept.forEach(this::endNow);
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "latchkey-shedlock");
        thread.setDaemon(true);
        return thread;
    }
}
