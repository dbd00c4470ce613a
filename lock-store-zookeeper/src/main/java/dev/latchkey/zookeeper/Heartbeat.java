package dev.latchkey.zookeeper;

import dev.latchkey.LockStorageException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the session known to live while something depends on it, and gives up what it carries when it is not. Otherwise it
 * asks nothing, but notices whether this process stands still.
 */
final class Heartbeat implements Runnable {

    private static final Logger log = LoggerFactory.getLogger(ZooKeeperStore.class);

    private static final long AFTER_FAILURE_NANOS = 100_000_000;
    private static final long NEVER_NANOS = Long.MAX_VALUE / 4;

    private final Sessions sessions;
    private final ThreadFactory threads;
    private volatile @Nullable Thread thread;
    private volatile boolean closed;

    /** When the thread looks again at the latest; while it does, long after every end. */
    private volatile long nextLookNanos = System.nanoTime() + NEVER_NANOS;

    /** What the last beat has failed with, and nobody was told of yet. Used by the thread alone. */
    private @Nullable Throwable failure;

    Heartbeat(Sessions sessions) {
        this(sessions, Heartbeat::thread);
    }

    Heartbeat(Sessions sessions, ThreadFactory threads) {
        this.sessions = sessions;
        this.threads = threads;
    }

    private static Thread thread(Runnable task) {
        Thread thread = new Thread(null, task, "latchkey-zookeeper-pulse", 0, false);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * To be called before something comes to depend on the session.
     *
     * @throws LockStorageException if no thread is to be had: nobody would be told of the end of what depends on it
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
            // If none can be started there is none, and the next who needs one tries again.
            started.start();
            thread = started;
        }
    }

    /** To be called once a hold depends on the session: it may end before the thread, which saw nothing held, looks again. */
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
            // Before the session is looked at: a hold that this look misses wakes the thread.
            nextLookNanos = System.nanoTime() + NEVER_NANOS;
            Session session = sessions.known();
            long pauseNanos = session == null ? AFTER_FAILURE_NANOS : beat(session);
            nextLookNanos = System.nanoTime() + pauseNanos;
            LockSupport.parkNanos(this, pauseNanos);
        }
    }

    /** Whatever the client throws, memory that runs out as well: without this thread no holder would learn of a loss. */
    private long beat(Session session) {
        tellOfFailure(session);
        try {
            return session.beat();
        } catch (RuntimeException | Error e) {
            failure = e;
            return AFTER_FAILURE_NANOS;
        }
    }

    /** Not where it was caught, for telling may fail in turn; and whether it does, the beat is what counts. */
    private void tellOfFailure(Session session) {
        Throwable before = failure;
        failure = null;
        if (before == null) {
            return;
        }
        try {
            log.warn("lock.beat-failed session=0x{} problem={}", Long.toHexString(session.id()), before.toString());
        } catch (RuntimeException | Error e) {
            // Nobody can be told.
        }
    }
}
