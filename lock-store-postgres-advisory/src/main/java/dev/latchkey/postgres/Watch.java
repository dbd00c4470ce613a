package dev.latchkey.postgres;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Finds out when a session that carries holds ends, while nobody uses it. Looks at the connections only. */
final class Watch implements Runnable {

    private static final long PAUSE_NANOS = 50_000_000;

    private final Sessions sessions;
    private final Rooms rooms;
    private volatile @Nullable Thread thread;
    private volatile boolean idle;
    private volatile boolean closed;

    Watch(Sessions sessions, Rooms rooms) {
        this.sessions = sessions;
        this.rooms = rooms;
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
                session.watch();
            }
            ended |= session.isEnded();
        }
        if (ended) {
            sessions.forgetEnded();
            rooms.removeDead();
        }
    }
}
