package dev.latchkey.flock;

import dev.latchkey.LockMode;
import java.io.IOException;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A blocking wait for the kernel's lock of one file, on a thread of its own. Only an interrupt ends it early, which closes
 * the channel. Guarded by the file's guard.
 */
final class KernelWait implements Runnable {

    private static final Logger log = LoggerFactory.getLogger(FlockStore.class);

    /** Idle threads end after a second. */
    static final Executor THREADS =
            new ThreadPoolExecutor(0, Integer.MAX_VALUE, 1, TimeUnit.SECONDS, new SynchronousQueue<>(), thread());

    private final ReentrantLock guard;
    private final KernelLock kernel;
    private final LockMode mode;
    private final LockEntry entry;
    private @Nullable Thread thread;
    private boolean cancelled;

    private KernelWait(ReentrantLock guard, KernelLock kernel, LockMode mode, LockEntry entry) {
        this.guard = guard;
        this.kernel = kernel;
        this.mode = mode;
        this.entry = entry;
    }

    /** Returns null if no thread can be started; the wait has not begun then. */
    static @Nullable KernelWait begin(
            Executor threads, ReentrantLock guard, KernelLock kernel, LockMode mode, LockEntry entry) {
        KernelWait wait = new KernelWait(guard, kernel, mode, entry);
        try {
            threads.execute(wait);
        } catch (OutOfMemoryError e) {
            return null;
        }
        return wait;
    }

    private static ThreadFactory thread() {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(null, task, "latchkey-flock-wait-" + number.incrementAndGet(), 0, false);
            thread.setDaemon(true);
            return thread;
        };
    }

    LockMode mode() {
        return mode;
    }

    boolean isCancelled() {
        return cancelled;
    }

    /** Cancels the wait. The entry is notified when the wait has ended. */
    void cancel() {
        if (!cancelled) {
            cancelled = true;
            if (thread != null) {
                thread.interrupt();
            }
        }
    }

    @Override
    public void run() {
        FileLock lock = null;
        try {
            if (isStillWanted()) {
                lock = kernel.await(mode);
            }
        } catch (IOException | OverlappingFileLockException e) {
            log.debug("lock.kernel_wait_ended mode={} problem={}", mode, e.toString());
        } finally {
            end(lock);
        }
    }

    private boolean isStillWanted() {
        guard.lock();
        try {
            thread = Thread.currentThread();
            return !cancelled;
        } finally {
            guard.unlock();
        }
    }

    private void end(@Nullable FileLock lock) {
        guard.lock();
        try {
            thread = null;
            // A cancellation after the lock was granted must not interrupt the next wait on this thread.
            Thread.interrupted();
            entry.kernelWaitEnded(this, lock);
        } finally {
            guard.unlock();
        }
    }
}
