package dev.latchkey.redis;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/** Waits without regard to interrupts, and keeps the interrupt flag. */
final class Uninterruptibles {

    private Uninterruptibles() {}

    /**
     * Waits for an answer.
     *
     * @throws ExecutionException if it failed
     * @throws TimeoutException if there is none in time
     */
    static <T> T await(Future<T> answer, Duration maxWait) throws ExecutionException, TimeoutException {
        long end = System.nanoTime() + maxWait.toNanos();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return answer.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Waits for some time. */
    static void pause(Duration length) {
        long end = System.nanoTime() + length.toNanos();
        boolean interrupted = Thread.interrupted();
        while (end - System.nanoTime() > 0) {
            LockSupport.parkNanos(end - System.nanoTime());
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
