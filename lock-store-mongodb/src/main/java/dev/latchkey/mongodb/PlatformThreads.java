package dev.latchkey.mongodb;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Threads that nobody interrupts. An interrupt of a virtual thread would close the socket that it reads from. */
final class PlatformThreads implements AutoCloseable {

    private static final @Nullable Method IS_VIRTUAL = findIsVirtual();

    private final ThreadPoolExecutor pool;

    PlatformThreads() {
        AtomicInteger number = new AtomicInteger();
        // Each ends after a second without work.
        pool = new ThreadPoolExecutor(0, Integer.MAX_VALUE, 1, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
            Thread thread = new Thread(null, task, "latchkey-mongodb-" + number.incrementAndGet(), 0, false);
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Makes a call on such a thread, and waits for the result. */
    <T extends @Nullable Object> T call(Supplier<T> call) {
        try {
            return CompletableFuture.supplyAsync(call, pool).join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw e;
        } catch (RejectedExecutionException e) {
            throw new IllegalStateException("the store is closed", e);
        }
    }

    @Override
    public void close() {
        pool.shutdown();
    }

    static boolean isVirtual() {
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
