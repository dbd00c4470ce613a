package dev.latchkey.spi;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Daemon threads of a store, for its own work and for callers on virtual threads. An interrupt closes the socket that a
 * virtual thread reads from, and with it everything that the connection holds. A store whose driver blocks on sockets
 * therefore makes its calls through {@link #uninterrupted} and {@link #interruptible}: a caller on a virtual thread has
 * them made here, any other makes them itself.
 *
 * <p>A thread is started when one is needed, and ends after a second without work. Thread-safe.
 */
public final class PlatformThreads implements Executor, AutoCloseable {

    /**
     * A call that an interrupt does not end.
     *
     * @param <T> its result
     * @param <X> what it throws
     */
    @FunctionalInterface
    public interface Work<T, X extends Exception> {

        /**
         * Makes the call.
         *
         * @return the result
         * @throws X if it fails
         */
        T run() throws X;
    }

    /**
     * A call that an interrupt ends.
     *
     * @param <T> its result
     * @param <X> what it throws
     */
    @FunctionalInterface
    public interface Wait<T, X extends Exception> {

        /**
         * Makes the call.
         *
         * @return the result
         * @throws X if it fails
         * @throws InterruptedException if the thread that makes it is interrupted
         */
        T run() throws X, InterruptedException;
    }

    private static final @Nullable Method IS_VIRTUAL = findIsVirtual();

    private final ThreadPoolExecutor pool;

    /**
     * Creates threads named after a store. None is started yet.
     *
     * @param name begins the name of each thread; a hyphen and a number follow
     */
    public PlatformThreads(String name) {
        AtomicInteger number = new AtomicInteger();
        pool = new ThreadPoolExecutor(0, Integer.MAX_VALUE, 1, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
            Thread thread = new Thread(null, task, name + "-" + number.incrementAndGet(), 0, false);
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * Runs a task on one of these threads.
     *
     * @throws RejectedExecutionException if they are closed
     * @throws OutOfMemoryError if no thread can be started
     */
    @Override
    public void execute(Runnable task) {
        pool.execute(task);
    }

    /**
     * Makes a call that an interrupt must not end. If the caller is interrupted meanwhile, its interrupt flag is set when
     * this method returns.
     *
     * @param <T> the result of the call
     * @param <X> what the call throws
     * @param work the call
     * @return its result
     * @throws X if it fails
     */
    public <T, X extends Exception> T uninterrupted(Work<T, X> work) throws X {
        DelegatedCall<T, X> call = isVirtual() ? delegated(new DelegatedCall<>(work::run)) : null;
        return call == null ? work.run() : call.await();
    }

    /**
     * Makes a call that an interrupt of the caller ends. If the interrupt comes when the call has ended already, its result
     * is returned and the interrupt flag of the caller is set.
     *
     * @param <T> the result of the call
     * @param <X> what the call throws
     * @param wait the call
     * @return its result
     * @throws X if it fails
     * @throws InterruptedException if the call was interrupted
     */
    public <T, X extends Exception> T interruptible(Wait<T, X> wait) throws X, InterruptedException {
        DelegatedCall<T, X> call = isVirtual() ? delegated(new DelegatedCall<>(wait::run)) : null;
        return call == null ? wait.run() : call.awaitInterruptibly();
    }

    private <T, X extends Exception> @Nullable DelegatedCall<T, X> delegated(DelegatedCall<T, X> call) {
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

    /** Lets the threads end when what they do has ended. Calls that come later are made by their callers. */
    @Override
    public void close() {
        pool.shutdown();
    }

    /**
     * Tells whether an interrupt of the thread that calls this would close the socket that it reads from.
     *
     * @return true on a virtual thread; false on every thread of a JVM that has none
     */
    public static boolean isVirtual() {
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
