package dev.latchkey.mysql;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out when a session that carries holds ends, while nobody uses it, by pings, which also keep the server from ending
 * it; and when one ends that has waited for long, by asking on another.
 */
final class SessionMonitor implements Runnable {

    private static final Logger log = LoggerFactory.getLogger(MySqlLockStore.class);

    private static final long PAUSE_NANOS = 50_000_000;

    private final Sessions sessions;
    private final LockTable rooms;
    private final Executor threads;
    private volatile @Nullable Thread thread;
    private volatile boolean idle;
    private volatile boolean closed;
    private volatile boolean checking;

    /** Whether the last look has failed. Used by the thread alone. */
    private boolean fails;

    SessionMonitor(Sessions sessions, LockTable rooms, Executor threads) {
        this.sessions = sessions;
        this.rooms = rooms;
        this.threads = threads;
    }

    /** To be called when there is something new to watch. */
    void needed() {
        Thread current = thread;
        if (current == null) {
            start();
        } else if (idle) {
            idle = false;
            LockSupport.unpark(current);
        }
    }

    private synchronized void start() {
        if (thread == null && !closed) {
            Thread started = new Thread(null, this, "latchkey-mysql-watch", 0, false);
            started.setDaemon(true);
            // If none can be started there is none, and the next who needs one tries again.
            started.start();
            thread = started;
        }
    }

    synchronized void close() {
        closed = true;
        LockSupport.unpark(thread);
    }

    @Override
    public void run() {
        while (!closed) {
            idle = true;
            if (rooms.size() == 0) {
                LockSupport.park(this);
            }
            idle = false;
            LockSupport.parkNanos(this, PAUSE_NANOS);
            lookWhateverFails();
        }
    }

    /** Memory that runs out, a driver's error: without this thread no holder would learn of a loss. */
    private void lookWhateverFails() {
        try {
            look();
            fails = false;
        } catch (RuntimeException | Error e) {
            warnOnce(e);
        }
    }

    private void warnOnce(Throwable failure) {
        if (fails) {
            return;
        }
        fails = true;
        try {
            log.warn("lock.watch_failed problem={}", failure.toString());
        } catch (RuntimeException | Error e) {
            // Nobody can be told.
        }
    }

    private void look() {
        boolean ended = false;
        List<Session> unseen =
                sessions.open().stream().filter(Session::isUnseen).toList();
        if (!unseen.isEmpty() && !checking) {
            // Before the flag is set: whatever fails from then on must reset it.
            Runnable check = () -> check(unseen);
            checking = true;
            if (!isOnAThread(check)) {
                checking = false;
            }
        }
        for (Session session : sessions.open()) {
            if (!session.holds().isEmpty()) {
                pingIfSilent(session);
            }
            ended |= session.isEnded();
        }
        // Whoever connects keeps its room meanwhile, however long: the other holders must not be told so much later.
        if (ended && isOnAThread(rooms::removeDead)) {
            sessions.forgetEnded();
        }
    }

    /**
     * One that waits in the server says nothing, also when it is long dead: another one asks for all. What comes of a server
     * that does not answer takes long.
     */
    private void check(List<Session> waiting) {
        try {
            sessions.checkWaiting(waiting);
        } finally {
            checking = false;
        }
    }

    /** On a thread of its own: one after the other, the last would be told after the server has given it up. */
    private void pingIfSilent(Session session) {
        if (session.isUsable() && session.isSilent()) {
            boolean unused = isOnAThread(session::pingIfSilent);
        }
    }

    /**
     * False if the store is closed, and so are the sessions; or if there is no thread now, for whatever reason: the next look
     * tries again, and this one goes on to the other sessions.
     */
    private boolean isOnAThread(Runnable work) {
        try {
            threads.execute(work);
            return true;
        } catch (RuntimeException | Error e) {
            return false;
        }
    }
}
