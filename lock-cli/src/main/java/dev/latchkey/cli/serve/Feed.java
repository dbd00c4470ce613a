package dev.latchkey.cli.serve;

import dev.latchkey.LockException;
import dev.latchkey.LockFactory;
import dev.latchkey.cli.text.Text;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Reads the store once in each interval while somebody listens, however many they are, and not at all while nobody does. Listeners wait for the
 * next snapshot: nobody is called, so one that is slow delays no other.
 */
final class Feed implements AutoCloseable {

    /** A listing that takes long is not begun again at once: it is not to use more than about 1 % of a core of the store. */
    private static final int PAUSE_BY_DURATION = 50;

    private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** The first listener after a time without any does not wait for the end of a long pause. */
    private static final long SHORTEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final LockFactory locks;
    private final ServerSettings settings;
    private final Snapshot.Clock clock = new Snapshot.Clock();
    private final Thread reader;

    private final ReentrantLock guard = new ReentrantLock();
    private final Condition changed = guard.newCondition();
    private Snapshot current = Snapshot.none();
    private int listeners;
    private boolean isFirstWaiting;
    private boolean closed;

    /** 0 between two readings. */
    private volatile long readingSince;

    Feed(LockFactory locks, ServerSettings settings) {
        this.locks = locks;
        this.settings = settings;
        reader = new Thread(this::readUntilClosed, "lock-serve-reader");
        reader.setDaemon(true);
    }

    void start() {
        reader.start();
    }

    Snapshot.Clock clock() {
        return clock;
    }

    /** Counts a listener. Returns the last version that is out of date for it: it waits for a later one. */
    long join() {
        guard.lock();
        try {
            listeners++;
            isFirstWaiting |= listeners == 1;
            changed.signalAll();
            // What is shown while a reading hangs may be as old as that.
            return listeners == 1 || isSlow() ? current.version() : 0;
        } finally {
            guard.unlock();
        }
    }

    void leave() {
        guard.lock();
        try {
            listeners--;
        } finally {
            guard.unlock();
        }
    }

    /** Waits for a later snapshot; empty if there is none within this time. */
    Optional<Snapshot> awaitAfter(long version, Duration maxWait) throws InterruptedException {
        long left = maxWait.toNanos();
        guard.lock();
        try {
            while (current.version() <= version && !closed) {
                if (left <= 0) {
                    return Optional.empty();
                }
                left = changed.awaitNanos(left);
            }
            return Optional.of(current);
        } finally {
            guard.unlock();
        }
    }

    /** Whether a reading has begun long ago and has not ended. */
    boolean isSlow() {
        long since = readingSince;
        return since != 0 && System.nanoTime() - since > SLOW_NANOS;
    }

    boolean isClosed() {
        guard.lock();
        try {
            return closed;
        } finally {
            guard.unlock();
        }
    }

    private void readUntilClosed() {
        try {
            while (awaitListener()) {
                long began = System.nanoTime();
                readingSince = began == 0 ? 1 : began;
                Snapshot snapshot = read();
                readingSince = 0;
                publish(snapshot);
                pause(snapshot.trouble().isPresent() ? 0 : System.nanoTime() - began);
            }
        } catch (InterruptedException e) {
            // Only close() interrupts this thread, which is our own and ends here.
        }
    }

    private boolean awaitListener() throws InterruptedException {
        guard.lock();
        try {
            while (listeners == 0 && !closed) {
                changed.await();
            }
            return !closed;
        } finally {
            guard.unlock();
        }
    }

    /** Only this thread replaces the current snapshot. */
    private Snapshot read() {
        try {
            return current.read(locks, settings.prefix(), clock);
        } catch (LockException e) {
            return current.failed(Text.message(String.valueOf(e.getMessage())), clock);
        } catch (RuntimeException | Error e) {
            // A defect of a store must not end this thread: pages would show for ever what was held before.
            return current.failed(Text.message(e.toString()), clock);
        }
    }

    private void publish(Snapshot snapshot) {
        guard.lock();
        try {
            current = snapshot;
            isFirstWaiting = false;
            changed.signalAll();
        } finally {
            guard.unlock();
        }
    }

    private void pause(long tookNanos) throws InterruptedException {
        long began = System.nanoTime();
        long interval = settings.interval().toNanos();
        long pause = Math.max(interval, Math.min(PAUSE_BY_DURATION * tookNanos, LONGEST_PAUSE_NANOS));
        guard.lock();
        try {
            while (!closed) {
                long whole = isFirstWaiting ? Math.min(interval, SHORTEST_PAUSE_NANOS) : pause;
                long left = whole - (System.nanoTime() - began);
                if (left <= 0) {
                    return;
                }
                long unused = changed.awaitNanos(left);
            }
        } finally {
            guard.unlock();
        }
    }

    @Override
    public void close() {
        guard.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            guard.unlock();
        }
        reader.interrupt();
    }
}
