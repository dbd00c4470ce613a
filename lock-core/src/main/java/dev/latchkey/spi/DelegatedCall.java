package dev.latchkey.spi;

import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Something one thread does for another, which waits for it and passes its interrupts on.
 *
 * @param <T> what comes of it
 * @param <X> what it throws, besides what is unchecked and interrupts
 */
final class DelegatedCall<T, X extends Exception> implements Runnable {

    private final Callable<T> task;
    private final CountDownLatch done = new CountDownLatch(1);
    private final ReentrantLock guard = new ReentrantLock();
    private @Nullable Thread worker;
    private boolean interrupted;
    private @Nullable T result;
    private @Nullable Throwable failure;

    DelegatedCall(Callable<T> task) {
        this.task = task;
    }

    @Override
    public void run() {
        begin();
        try {
            result = task.call();
        } catch (Exception | Error e) {
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

    T await() throws X {
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

    T awaitInterruptibly() throws X, InterruptedException {
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

    @SuppressWarnings({"NullAway", "unchecked"}) // There is a result where there is no failure; tasks throw no other.
    private T outcome() throws X {
        if (failure instanceof RuntimeException unchecked) {
            throw unchecked;
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure != null) {
            throw (X) failure;
        }
        return result;
    }
}
