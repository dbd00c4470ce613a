package dev.latchkey.cli;

import dev.latchkey.Lock;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Asks the store now and then whether a lock without a lease is still held: nothing renews it, and so nothing else notices that
 * somebody has removed it from the store, such as a node of ZooKeeper. The listeners of the lock are told of the loss.
 */
final class HoldChecks {

    private final CountDownLatch closed = new CountDownLatch(1);

    /** Begins, unless the lock has a lease, which is renewed. */
    static HoldChecks begin(Lock lock, Duration pause) {
        HoldChecks checks = new HoldChecks();
        if (lock.remainingLifetime().isEmpty()) {
            Threads.startDaemon("lock-check", () -> checks.ask(lock, pause));
        }
        return checks;
    }

    private void ask(Lock lock, Duration pause) {
        try {
            while (!closed.await(pause.toNanos(), TimeUnit.NANOSECONDS)) {
                askOnce(lock);
            }
        } catch (InterruptedException | LockLostException | IllegalStateException e) {
            // Nothing is held any more.
        }
    }

    private static void askOnce(Lock lock) {
        try {
            lock.refresh();
        } catch (LockStorageException e) {
            // Nobody knows: asked again.
        }
    }

    /** Asks no more. */
    void close() {
        closed.countDown();
    }
}
