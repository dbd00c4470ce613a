package dev.latchkey;

import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The three threads of a factory, whatever the number of its locks; each starts when first needed.
 *
 * <p>The alarm thread notices the local end of leases and does no I/O, so that no slow server can delay it. The renewer
 * refreshes leases. The notifier runs the users' listeners.
 */
final class Keeper implements AutoCloseable {

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

    Future<?> alarmAt(Deadline deadline, Runnable task) {
        return alarm.schedule(task, deadline.remainingNanos(), TimeUnit.NANOSECONDS);
    }

    Future<?> renewAt(Deadline due, Runnable task) {
        return renewer.schedule(task, due.remainingNanos(), TimeUnit.NANOSECONDS);
    }

    /** Runs something with I/O as soon as what is due before is done. */
    void renew(Runnable task) {
        renewer.execute(task);
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
