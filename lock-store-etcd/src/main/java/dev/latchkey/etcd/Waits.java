package dev.latchkey.etcd;

import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/** All who wait now, so that closing the store ends their waits. A wait that is over leaves nothing behind. */
final class Waits {

    private final Set<WaitEnd> open = ConcurrentHashMap.newKeySet();
    private volatile boolean isClosed;

    WaitEnd begin(long endNanos, CompletionStage<?> withdrawn) {
        WaitEnd wait = new WaitEnd(endNanos, withdrawn);
        open.add(wait);
        // Asked after it was added, so that closing misses none that is just beginning.
        if (isClosed) {
            wait.stop();
        }
        return wait;
    }

    void end(WaitEnd wait) {
        open.remove(wait);
    }

    void close() {
        isClosed = true;
        open.forEach(WaitEnd::stop);
    }

    boolean isClosed() {
        return isClosed;
    }

    int count() {
        return open.size();
    }
}
