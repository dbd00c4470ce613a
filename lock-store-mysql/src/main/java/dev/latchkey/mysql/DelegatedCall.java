package dev.latchkey.mysql;

import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Something one thread does for another, which waits for it and passes its interrupts on.
 *
 * @param <T> what comes of it
 */
final class DelegatedCall<T> implements Runnable {

    /** What an interrupt ends. */
    @FunctionalInterface
    interface Wait<T> {
        T run() throws SQLException, InterruptedException;
    }

    /** What an interrupt does not end. */
    @FunctionalInterface
    interface Work<T> extends Wait<T> {
        @Override
        T run() throws SQLException;
    }

    private final Wait<T> task;
    private final CountDownLatch done = new CountDownLatch(1);
    private final ReentrantLock guard = new ReentrantLock();
    private @Nullable Thread worker;
    private boolean interrupted;
    private @Nullable T result;
    private @Nullable Throwable failure;

    DelegatedCall(Wait<T> task) {
        this.task = task;
    }

    @Override
    public void run() {
        begin();
        try {
            result = task.run();
        } catch (SQLException | InterruptedException | RuntimeException | Error e) {
            failure = e;
        } finally {
            end();
            done.countDown();
        }
    }

    private void begin() {
        guard.lock();
        try {
            worker = Thread.currentThread();
            if (interrupted) {
                worker.interrupt();
            }
        } finally {
            guard.unlock();
        }
    }

    /** From now on an interrupt would meet whoever uses this thread next. */
    private void end() {
        guard.lock();
        try {
            worker = null;
            Thread.interrupted();
        } finally {
            guard.unlock();
        }
    }

    private void interruptWorker() {
        guard.lock();
        try {
            interrupted = true;
            if (worker != null) {
                worker.interrupt();
            }
        } finally {
            guard.unlock();
        }
    }

    T await() throws SQLException {
        boolean flag = Thread.interrupted();
        while (done.getCount() > 0) {
            try {
                done.await();
            } catch (InterruptedException e) {
                flag = true;
            }
        }
        if (flag) {
            Thread.currentThread().interrupt();
        }
        return outcome();
    }

    T awaitInterruptibly() throws SQLException, InterruptedException {
        boolean flag = false;
        while (done.getCount() > 0) {
            try {
                done.await();
            } catch (InterruptedException e) {
                flag = true;
                interruptWorker();
            }
        }
        if (failure instanceof InterruptedException) {
            throw new InterruptedException();
        }
        if (flag) {
            // It crossed the end: what came of it stands.
            Thread.currentThread().interrupt();
        }
        return outcome();
    }

    @SuppressWarnings("NullAway") // There is a result where there is no failure.
    private T outcome() throws SQLException {
        if (failure instanceof SQLException sql) {
            throw sql;
        }
        if (failure instanceof RuntimeException unchecked) {
            throw unchecked;
        }
        if (failure instanceof Error error) {
            throw error;
        }
        return result;
    }
}
