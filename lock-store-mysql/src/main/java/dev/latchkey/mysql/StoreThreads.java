package dev.latchkey.mysql;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.SQLException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The threads of a store: for those who wait in the server, for probes, and for callers on virtual threads. An interrupt
 * closes the socket that a virtual thread reads, and with it all that the session carries.
 */
final class StoreThreads implements Executor {

    private static final @Nullable Method IS_VIRTUAL = findIsVirtual();

    private final ThreadPoolExecutor pool;

    StoreThreads() {
        AtomicInteger number = new AtomicInteger();
        // Each waits for a second for more to do, and ends.
        pool = new ThreadPoolExecutor(0, Integer.MAX_VALUE, 1, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
            Thread thread = new Thread(null, task, "latchkey-mysql-" + number.incrementAndGet(), 0, false);
            thread.setDaemon(true);
            return thread;
        });
    }

    @Override
    public void execute(Runnable task) {
        pool.execute(task);
    }

    /** Runs on a platform thread what must not be interrupted in the middle. */
    <T> T work(DelegatedCall.Work<T> work) throws SQLException {
        DelegatedCall<T> call = isVirtual() ? delegated(work) : null;
        return call == null ? work.run() : call.await();
    }

    /** Runs on a platform thread what an interrupt ends. */
    <T> T wait(DelegatedCall.Wait<T> wait) throws SQLException, InterruptedException {
        DelegatedCall<T> call = isVirtual() ? delegated(wait) : null;
        return call == null ? wait.run() : call.awaitInterruptibly();
    }

    private <T> @Nullable DelegatedCall<T> delegated(DelegatedCall.Wait<T> wait) {
        DelegatedCall<T> call = new DelegatedCall<>(wait);
        try {
            pool.execute(call);
            return call;
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            // Either the store is closed, and there is no session to lose; or no thread can be started, and an
            // interrupt
            // may end the session: its holders are told then.
            return null;
        }
    }

    void close() {
        pool.shutdown();
    }

    private static boolean isVirtual() {
        if (IS_VIRTUAL == null) {
            return false;
        }
        try {
            return (boolean) IS_VIRTUAL.invoke(Thread.currentThread());
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("Thread.isVirtual() is public and throws nothing", e);
        }
    }

    private static @Nullable Method findIsVirtual() {
        try {
            return Thread.class.getMethod("isVirtual");
        } catch (NoSuchMethodException e) {
            return null;
        }
    }
}
