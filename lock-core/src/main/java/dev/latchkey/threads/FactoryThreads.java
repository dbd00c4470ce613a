package dev.latchkey.threads;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The threads of a factory, whatever the number of its locks. Those that tell of a loss start with the first hold that is
 * watched, the others when first needed.
 *
 * <p>The alarm thread notices the local end of leases and does no I/O, so that no slow server can delay it. The renewer
 * refreshes leases. The notifier runs the users' listeners. The enders tell the store of holds that reached their max hold, or
 * were recalled: they may wait for calls of users, and for a store that hangs, which must not delay a renewal. An interrupt runs on a thread that
 * ends soon after it, for what it sets off in the interrupted thread's channel may take long. The listener runs the
 * listeners of {@link dev.latchkey.LockListener}, so that none of them delays who is told of a loss.
 */
public final class FactoryThreads implements AutoCloseable {

    /** How long to wait for a thread where none was to be had. */
    private static final long LATER_MILLIS = 100;

    private static final long EVENTS_MILLIS = 10;

    /** One answer of a store may take long, and what others wait for must not come after it. */
    private static final int ENDERS = 4;

    private final ScheduledThreadPoolExecutor alarm;
    private final ScheduledThreadPoolExecutor renewer;
    private final ThreadPoolExecutor notifier;
    private final ThreadPoolExecutor ender;
    private final ThreadPoolExecutor interrupter;
    private final ScheduledThreadPoolExecutor listener;
    private final ThreadFactory async;

    /** Made when it is first needed, which is never in most programs. */
    private final AtomicReference<@Nullable AsyncCalls> asyncCalls = new AtomicReference<>();

    /** Creates threads, none of which starts before it is needed, with the context class loader of the thread that calls this. */
    public FactoryThreads() {
        this(new DaemonThreads()::make);
    }

    /**
     * Creates threads that are made elsewhere.
     *
     * @param threads makes a thread of a task and a name
     */
    public FactoryThreads(BiFunction<? super Runnable, ? super String, ? extends Thread> threads) {
        alarm = new GuardedScheduler(daemon(threads, "latchkey-alarm"));
        renewer = new GuardedScheduler(daemon(threads, "latchkey-renewer"));
        notifier = new ThreadPoolExecutor(
                1,
                1,
                0,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                daemon(threads, "latchkey-notifier"),
                new ThreadPoolExecutor.DiscardPolicy());
        ender = ending(daemon(threads, "latchkey-ender"), ENDERS, ENDERS, new LinkedBlockingQueue<>());
        interrupter = ending(daemon(threads, "latchkey-interrupter"), 1, Integer.MAX_VALUE, new SynchronousQueue<>());
        listener = new GuardedScheduler(daemon(threads, "latchkey-listener"));
        listener.setKeepAliveTime(1, TimeUnit.SECONDS);
        listener.allowCoreThreadTimeOut(true);
        async = daemon(threads, "latchkey-async");
    }

    /**
     * Runs something on the alarm thread.
     *
     * @param nanos how long from now
     * @param task what to do, without I/O
     * @return cancels it
     */
    public Future<?> alarmIn(long nanos, Runnable task) {
        // As in listenLater(): nothing is kept that the caller is told has failed.
        alarm.prestartCoreThread();
        return alarm.schedule(task, nanos, TimeUnit.NANOSECONDS);
    }

    /**
     * Runs something on the renewer.
     *
     * @param nanos how long from now
     * @param task what to do
     * @return cancels it
     */
    public Future<?> renewIn(long nanos, Runnable task) {
        return renewer.schedule(task, nanos, TimeUnit.NANOSECONDS);
    }

    /**
     * Runs the renewal of what was collected, as soon as what is due before is done.
     *
     * @param task what to do
     */
    public void renew(Runnable task) {
        renewer.execute(task);
    }

    /**
     * Runs something with I/O that nothing else may wait for; later, if no thread is to be had now.
     *
     * @param task what to do
     * @return its end
     */
    public Future<?> end(Runnable task) {
        var ending = new FutureTask<@Nullable Object>(task, null);
        endNowOrLater(ending);
        return ending;
    }

    private void endNowOrLater(Runnable task) {
        try {
            ender.execute(task);
        } catch (OutOfMemoryError e) {
            Future<?> unused = alarmIn(TimeUnit.MILLISECONDS.toNanos(LATER_MILLIS), () -> endNowOrLater(task));
        }
    }

    /**
     * Runs foreign code that may take long, at once: if no thread is to be had, in this one, which is better than never.
     *
     * @param task what to do
     */
    public void interrupt(Runnable task) {
        try {
            interrupter.execute(task);
        } catch (OutOfMemoryError e) {
            task.run();
        }
    }

    /** Starts the threads now that tell of a loss: when it comes, there may be none to be had. */
    public void getReadyToTell() {
        alarm.prestartCoreThread();
        notifier.prestartCoreThread();
    }

    /**
     * Runs what may take long, and is not urgent; later yet, if no thread is to be had: many need not wake it for each.
     *
     * @param task what to do
     */
    public void listenLater(Runnable task) {
        try {
            // The thread first: the executor keeps what it is given, also when it then fails to start a thread for it.
            listener.prestartCoreThread();
            Future<?> unused = listener.schedule(task, EVENTS_MILLIS, TimeUnit.MILLISECONDS);
        } catch (OutOfMemoryError e) {
            Future<?> unused = alarmIn(TimeUnit.MILLISECONDS.toNanos(LATER_MILLIS), () -> listenLater(task));
        }
    }

    /**
     * Returns what runs calls that wait, each on a thread of its own.
     *
     * @return the same each time
     */
    public AsyncCalls asyncCalls() {
        AsyncCalls calls = asyncCalls.get();
        if (calls == null) {
            Executor threads = CallThreads.create(async);
            // For the calls that cannot begin at once; then there may be no thread to be had for this one either.
            alarm.prestartCoreThread();
            asyncCalls.compareAndSet(null, new AsyncCalls(task -> callNowOrLater(threads, task)));
        }
        return calls == null ? asyncCalls() : calls;
    }

    /** The caller may be a thread of a driver, and what it has to tell must not be lost. */
    private void callNowOrLater(Executor threads, Runnable call) {
        try {
            threads.execute(call);
        } catch (OutOfMemoryError e) {
            Future<?> unused =
                    alarmIn(TimeUnit.MILLISECONDS.toNanos(LATER_MILLIS), () -> callNowOrLater(threads, call));
        }
    }

    /**
     * Returns the thread that runs the users' listeners.
     *
     * @return the notifier
     */
    public Executor notifier() {
        return notifier;
    }

    /**
     * Stops alarms and renewals at once; what the notifier was given before is still delivered. The threads of the listener and the
     * enders end by themselves, for calls that are in progress have events yet, and may leave something to release.
     */
    @Override
    public void close() {
        alarm.shutdownNow();
        renewer.shutdownNow();
        notifier.shutdown();
        interrupter.shutdown();
    }

    private static ThreadPoolExecutor ending(
            ThreadFactory threads, int atOnce, int atMost, BlockingQueue<Runnable> queue) {
        var pool = new ThreadPoolExecutor(
                atOnce, atMost, 1, TimeUnit.SECONDS, queue, threads, new ThreadPoolExecutor.DiscardPolicy());
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    private static ThreadFactory daemon(
            BiFunction<? super Runnable, ? super String, ? extends Thread> threads, String name) {
        return task -> {
            Thread thread = threads.apply(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }
}
