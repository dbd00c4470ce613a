package dev.latchkey.jdbc;

import dev.latchkey.testkit.TimeLimits;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** A call in a thread of its own, which does not keep the JVM alive. */
final class Task<T> {

    private final FutureTask<T> future;

    private Task(FutureTask<T> future) {
        this.future = future;
    }

    static <T> Task<T> start(Callable<T> call) {
        FutureTask<T> future = new FutureTask<>(call);
        Thread thread = new Thread(future, "test-task");
        thread.setDaemon(true);
        thread.start();
        return new Task<>(future);
    }

    boolean isDone() {
        return future.isDone();
    }

    T result() throws Exception {
        return future.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
    }
}
