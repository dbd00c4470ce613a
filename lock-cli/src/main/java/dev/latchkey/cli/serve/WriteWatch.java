package dev.latchkey.cli.serve;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Knows which thread has been writing since when. A client that never reads would keep its thread, and what is written to it, for ever.
 * Thread-safe.
 */
final class WriteWatch {

    private final long longestNanos;
    private final Map<Thread, Long> writing = new ConcurrentHashMap<>();

    WriteWatch(Duration longestWrite) {
        longestNanos = longestWrite.toNanos();
    }

    /** The calling thread writes until it says {@link #end()}. */
    void begin() {
        writing.put(Thread.currentThread(), System.nanoTime());
    }

    void end() {
        writing.remove(Thread.currentThread());
    }

    /** The interrupt closes the channel of its thread. */
    void closeStuck() {
        long now = System.nanoTime();
        writing.forEach((thread, since) -> {
            if (now - since > longestNanos) {
                thread.interrupt();
            }
        });
    }
}
