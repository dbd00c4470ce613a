package dev.latchkey.zookeeper;

import dev.latchkey.LockStorageException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that proves the session while something depends on it, and ends its holds when the session may be over. While
 * nothing depends on the session it sends nothing, but notices whether this process stands still.
 */
final class Heartbeat implements Runnable {

    private static final Logger log = LoggerFactory.getLogger(ZooKeeperStore.class);

    private static final long AFTER_FAILURE_NANOS = 100_000_000;
    private static final long NEVER_NANOS = Long.MAX_VALUE / 4;

    private final Sessions sessions;
    private final ThreadFactory threads;
    private volatile @Nullable Thread thread;
    private volatile boolean closed;

    /** When the thread looks again at the latest; while it looks, a time after every end. */
    private volatile long nextLookNanos = System.nanoTime() + NEVER_NANOS;

    /** The failure of the last beat, until it is logged. Used by the thread alone. */
    private @Nullable Throwable failure;

    Heartbeat(Sessions sessions) {
        this(sessions, Heartbeat::thread);
    }

    Heartbeat(Sessions sessions, ThreadFactory threads) {
        this.sessions = sessions;
        this.threads = threads;
    }

    private static Thread thread(Runnable task) {
        Thread thread = new Thread(null, task, "latchkey-zookeeper-heartbeat", 0, false);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Starts the thread if necessary. Call it before something comes to depend on the session.
     *
     * @throws LockStorageException if no thread can be started: no holder would be told of the end of the session
     */
    void needed(String resource) {
        if (thread == null) {
            try {
                start();
            } catch (OutOfMemoryError e) {
                throw Failures.noThread(resource, e);
            }
        }
    }

    private synchronized void start() {
        if (thread == null && !closed) {
            Thread started = threads.newThread(this);
            // Assigned only once it runs, so that the next call tries again if this one fails.
            started.start();
            thread = started;
        }
    }

    /** Wakes the thread if the session of a new hold may end before the thread looks again. */
    void carries(Session session) {
        if (session.endNanos() - nextLookNanos < 0) {
            LockSupport.unpark(thread);
        }
    }

    synchronized void close() {
        closed = true;
        LockSupport.unpark(thread);
    }

    @Override
    public void run() {
        while (!closed) {
            // Before the session is looked at, so that a hold which this look misses wakes the thread.
            nextLookNanos = System.nanoTime() + NEVER_NANOS;
            Session session = sessions.known();
            long pauseNanos = session == null ? AFTER_FAILURE_NANOS : beat(session);
            nextLookNanos = System.nanoTime() + pauseNanos;
            LockSupport.parkNanos(this, pauseNanos);
        }
    }

    /** Survives whatever the client throws, also when memory runs out: without this thread no holder is told of a loss. */
    private long beat(Session session) {
        tellOfFailure(session);
        try {
            return session.beat();
        } catch (RuntimeException | Error e) {
            failure = e;
            return AFTER_FAILURE_NANOS;
        }
    }

    /** Logs the failure of the last beat. Not where it was caught, because logging may fail as well. */
    private void tellOfFailure(Session session) {
        Throwable before = failure;
        failure = null;
        if (before == null) {
            return;
        }
        try {
            log.warn("lock.beat_failed session=0x{} problem={}", Long.toHexString(session.id()), before.toString());
        } catch (RuntimeException | Error e) {
            // It cannot be logged.
        }
    }
}
