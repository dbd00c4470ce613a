package dev.latchkey.examples;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.time.Duration;

/** An application of several stores, with nothing on its class path but what their artifacts bring. */
final class TwoStores {

    private TwoStores() {}

    /**
     * Takes a lock in each store, and gives it up.
     *
     * @param dsns one for each
     */
    public static void main(String[] dsns) throws InterruptedException {
        for (String dsn : dsns) {
            try (LockFactory locks = LockFactory.connect(dsn);
                    Lock lock = locks.createLock("pair").acquire(Duration.ofSeconds(60))) {
                System.out.println("locked " + lock.isAcquired());
            }
        }
    }
}
