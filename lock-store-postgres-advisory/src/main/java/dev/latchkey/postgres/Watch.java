package dev.latchkey.postgres;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Finds out when a session that carries holds ends, while nobody uses it. Looks at the connections only. */
final class Watch implements Runnable {

    private static final long PAUSE_NANOS = 50_000_000;

    private final Sessions sessions;
    private final Rooms rooms;
    private final Executor threads;
    private volatile @Nullable Thread thread;
    private volatile boolean idle;
    private volatile boolean closed;

    Watch(Sessions sessions, Rooms rooms, Executor threads) {
        this.sessions = sessions;
        this.rooms = rooms;
        this.threads = threads;
    }

    /** To be called when there is something new to watch. */
    void holds() {
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
            Thread started = new Thread(null, this, "latchkey-postgres-watch", 0, false);
            started.setDaemon(true);
            thread = started;
            started.start();
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
            if (isNothingHeld()) {
                LockSupport.park(this);
            }
            idle = false;
            LockSupport.parkNanos(this, PAUSE_NANOS);
            look();
        }
    }

    private boolean isNothingHeld() {
        return sessions.open().stream().allMatch(session -> session.holds().isEmpty());
    }

    private void look() {
        boolean ended = false;
        for (Session session : sessions.open()) {
            if (!session.holds().isEmpty()) {
                session.look();
                probeIfSilent(session);
            }
            ended |= session.isEnded();
        }
        if (ended) {
            sessions.forgetEnded();
            rooms.removeDead();
        }
    }

    /** On a thread of its own: one after the other, the last would be told after the server has given it up. */
    private void probeIfSilent(Session session) {
        if (session.isSilent()) {
            try {
                threads.execute(session::probe);
            } catch (RejectedExecutionException e) {
                // The store is closed, and so is the session.
            }
        }
    }
}
