package dev.latchkey;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads of a factory, whatever the number of its locks; each starts when first needed.
 *
 * <p>The alarm thread notices the local end of leases and does no I/O, so that no slow server can delay it. The renewer
 * refreshes leases. The notifier runs the users' listeners. The ender tells the store of holds that reached their max hold: it
 * may wait for calls of users, and for a store that hangs, which must not delay a renewal. An interrupt runs on a thread that
 * ends soon after it, for what it sets off in the interrupted thread's channel may take long.
 */
final class FactoryThreads implements AutoCloseable {

    private final ScheduledThreadPoolExecutor alarm = scheduler("latchkey-alarm");
    private final ScheduledThreadPoolExecutor renewer = scheduler("latchkey-renewer");
    private final ThreadPoolExecutor notifier = new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            daemon("latchkey-notifier"),
            new ThreadPoolExecutor.DiscardPolicy());
    private final ThreadPoolExecutor ender = ending("latchkey-ender", 1, new LinkedBlockingQueue<>());
    private final ThreadPoolExecutor interrupter =
            ending("latchkey-interrupter", Integer.MAX_VALUE, new SynchronousQueue<>());

    Future<?> alarmAt(Deadline deadline, Runnable task) {
        return alarm.schedule(task, deadline.remainingNanos(), TimeUnit.NANOSECONDS);
    }

    Future<?> renewAt(Deadline due, Runnable task) {
        return renewer.schedule(task, due.remainingNanos(), TimeUnit.NANOSECONDS);
    }

    /** Runs the renewal of what was collected, as soon as what is due before is done. */
    void renew(Runnable task) {
        renewer.execute(task);
    }

    /** Runs something with I/O that nothing else may wait for. */
    Future<?> end(Runnable task) {
        return ender.submit(task);
    }

    /** Runs foreign code that may take long, at once. */
    void interrupt(Runnable task) {
        interrupter.execute(task);
    }

    Executor notifier() {
        return notifier;
    }

    /** Stops alarms and renewals at once; what the notifier was given before is still delivered. */
    @Override
    public void close() {
        alarm.shutdownNow();
        renewer.shutdownNow();
        notifier.shutdown();
        ender.shutdown();
        interrupter.shutdown();
    }

    private static ThreadPoolExecutor ending(String name, int atMost, BlockingQueue<Runnable> queue) {
        var pool = new ThreadPoolExecutor(
                Math.min(atMost, 1),
                atMost,
                1,
                TimeUnit.SECONDS,
                queue,
                daemon(name),
                new ThreadPoolExecutor.DiscardPolicy());
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    private static ScheduledThreadPoolExecutor scheduler(String name) {
        var scheduler = new ScheduledThreadPoolExecutor(1, daemon(name), new ThreadPoolExecutor.DiscardPolicy());
        scheduler.setRemoveOnCancelPolicy(true);
        return scheduler;
    }

    private static ThreadFactory daemon(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }
}
