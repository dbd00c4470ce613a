package dev.latchkey.jdbc;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Calls on a thread of their own, that nobody interrupts and that has no transaction. */
final class DedicatedThreadCalls {

    private static final long NO_LIMIT = Long.MAX_VALUE;

    private DedicatedThreadCalls() {}

    /** Waits for what is called, also when interrupted, and keeps the flag. */
    static <T> T call(Callable<T> call) throws Exception {
        try {
            return await(start(call), NO_LIMIT);
        } catch (TimeoutException e) {
            throw new IllegalStateException("waited for ever", e);
        }
    }

    /**
     * Waits no longer than that: the call goes on alone then.
     *
     * @throws TimeoutException if it has no result by then
     */
    static <T> T call(Callable<T> call, Duration limit) throws Exception {
        return await(start(call), limit.toNanos());
    }

    private static <T> FutureTask<T> start(Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(call);
        Thread thread = new Thread(task, "latchkey-jdbc-call");
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    private static <T> T await(FutureTask<T> task, long limitNanos) throws Exception {
        long start = System.nanoTime();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return task.get(limitNanos - (System.nanoTime() - start), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    throw rethrown(e);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static Exception rethrown(ExecutionException e) {
        if (e.getCause() instanceof Error error) {
            throw error;
        }
        return e.getCause() instanceof Exception mine ? mine : e;
    }
}
