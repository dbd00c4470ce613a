package dev.latchkey.examples;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/** An application of several stores, with nothing on its class path but what their artifacts bring. */
final class SeveralStores {

    private SeveralStores() {}

    /**
     * Takes a lock in each store, holds them all, and gives them up.
     *
     * @param dsns one for each
     */
    public static void main(String[] dsns) throws InterruptedException {
        lock(Arrays.asList(dsns));
    }

    private static void lock(List<String> dsns) throws InterruptedException {
        if (dsns.isEmpty()) {
            return;
        }
        try (LockFactory locks = LockFactory.connect(dsns.get(0));
                Lock lock = locks.createLock("together").acquire(Duration.ofSeconds(60))) {
            lock(dsns.subList(1, dsns.size()));
            System.out.println("locked " + lock.isAcquired());
        }
    }
}
