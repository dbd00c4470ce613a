package dev.latchkey.memcached;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A line at home: of the threads of a store that change one resource, one at a time asks the server, in order of arrival, so
 * that they do not spoil each other's {@code cas} again and again. Who waits long goes without: the line keeps nobody from
 * anything, and a server that does not answer holds up the first alone.
 */
final class ResourceMutexes {

    private static final int LINES = 64;
    static final Duration PATIENCE = Duration.ofMillis(500);

    private final long patienceNanos;
    private final ReentrantLock[] lines =
            Stream.generate(() -> new ReentrantLock(true)).limit(LINES).toArray(ReentrantLock[]::new);

    /**
     * Makes lines in which nobody is.
     *
     * @param patience how long each waits for its turn
     */
    ResourceMutexes(Duration patience) {
        this.patienceNanos = patience.toNanos();
    }

    <T> T inTurn(String resource, Supplier<T> change) {
        ReentrantLock line = lines[Math.floorMod(resource.hashCode(), LINES)];
        boolean isFirst = isReached(line);
        try {
            return change.get();
        } finally {
            if (isFirst) {
                line.unlock();
            }
        }
    }

    /** Waits whether the thread is interrupted or not, and keeps the flag. */
    private boolean isReached(ReentrantLock line) {
        long end = System.nanoTime() + patienceNanos;
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return line.tryLock(end - System.nanoTime(), TimeUnit.NANOSECONDS);
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
}
