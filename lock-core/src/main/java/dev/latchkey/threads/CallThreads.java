package dev.latchkey.threads;

import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The threads of {@link AsyncCalls}: a virtual one for each call from Java 21 on, else one of the platform. */
public final class CallThreads {

    private static final long KEEP_ALIVE_SECONDS = 1;

    private CallThreads() {}

    /**
     * Creates the threads of a factory, none of which keeps the JVM from ending.
     *
     * @return runs each task at once; its threads end by themselves
     */
    public static Executor create() {
        try {
            // Not in the API that this is compiled for.
            return (Executor)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException | RuntimeException e) {
            return platformThreads();
        }
    }

    private static Executor platformThreads() {
        return new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, KEEP_ALIVE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                    Thread thread = new Thread(task, "latchkey-async");
                    thread.setDaemon(true);
                    return thread;
                });
    }
}
