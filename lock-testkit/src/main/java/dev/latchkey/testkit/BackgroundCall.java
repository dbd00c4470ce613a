package dev.latchkey.testkit;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;

/**
 * Something that runs in a thread of its own, such as a wait for a lock.
 *
 * @param <T> what it returns
 */
public final class BackgroundCall<T> {

    private static final Duration LIMIT = TimeLimits.LIMIT;

    private final FutureTask<T> task;
    private final Thread thread;

    private BackgroundCall(FutureTask<T> task) {
        this.task = task;
        this.thread = new Thread(task, "background-call");
        thread.setDaemon(true);
    }

    /**
     * Runs something in a thread of its own. Where there is a {@link Fixture}, its own method also ends it with the test.
     *
     * @param call what to do
     * @param <T> what it returns
     * @return the call
     */
    public static <T> BackgroundCall<T> start(Callable<T> call) {
        BackgroundCall<T> started = new BackgroundCall<>(new FutureTask<>(call));
        started.thread.start();
        return started;
    }

    /**
     * Waits until its thread is parked. Returns also if the call has ended, for instance by an exception that
     * {@link #result()} then throws.
     */
    public void awaitWaiting() {
        Awaitility.await("a thread to wait")
                .pollInterval(Duration.ofMillis(2))
                .atMost(LIMIT)
                .until(() -> task.isDone() || isParked(thread));
    }

    /**
     * Tells whether the call still waits.
     *
     * @return true while its thread is parked
     */
    public boolean isWaiting() {
        return isParked(thread);
    }

    /**
     * Tells whether the call has ended.
     *
     * @return true also if it threw
     */
    public boolean isDone() {
        return task.isDone();
    }

    /** Interrupts its thread. */
    public void interrupt() {
        thread.interrupt();
    }

    /**
     * Waits for the end of the call.
     *
     * @return what it returned
     * @throws Exception what it threw
     * @throws AssertionError if it does not end within {@link TimeLimits#LIMIT}
     */
    public T result() throws Exception {
        return result(LIMIT);
    }

    T result(Duration limit) throws Exception {
        try {
            return TimeLimits.get(task, limit);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw new AssertionError("the background call failed", e.getCause());
        } catch (TimeoutException e) {
            AssertionError endless = new AssertionError("the background call did not end within " + limit, e);
            StackTraceElement[] stack = thread.getStackTrace();
            AssertionError where = new AssertionError("it was here");
            where.setStackTrace(stack);
            endless.addSuppressed(where);
            throw endless;
        }
    }

    /** Interrupts the thread if it still runs, and waits for its end. */
    void end() throws InterruptedException {
        if (thread.isAlive()) {
            thread.interrupt();
            thread.join(LIMIT.toMillis());
        }
    }

    static boolean isParked(Thread thread) {
        Thread.State state = thread.getState();
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }
}
