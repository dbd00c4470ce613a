package dev.latchkey;

import org.jspecify.annotations.Nullable;

/**
 * Interrupts the thread that works under a hold, once, if the hold is lost. An interrupt runs code that is not ours, such as
 * the closing of a channel: no other guard is held meanwhile, and whoever releases the hold waits for it.
 */
final class WorkerInterrupt {

    private volatile @Nullable Thread worker;

    synchronized void of(Thread newWorker) {
        worker = newWorker;
    }

    /** A thread that finds out by a call of its own is told by that call. */
    synchronized void happen(@Nullable Thread finder) {
        Thread interrupted = worker;
        try {
            if (interrupted != null && interrupted != finder) {
                interrupted.interrupt();
            }
        } finally {
            // Not before: who looks meanwhile has to wait for it.
            worker = null;
        }
    }

    /** Whether it has not happened yet; does not wait for one that is happening. */
    boolean isDue() {
        return worker != null;
    }

    /** When this returns, nobody is interrupted any more. */
    synchronized void cancel() {
        worker = null;
    }
}
