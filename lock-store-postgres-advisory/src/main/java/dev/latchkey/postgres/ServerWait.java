package dev.latchkey.postgres;

import dev.latchkey.LockMode;
import java.sql.SQLException;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One wait in the server's queue, on a session and a thread of its own: nothing but a cancellation ends it early. Guarded by
 * the room.
 */
final class ServerWait implements Runnable {

    private static final long CANCEL_AGAIN_MILLIS = 20;

    /** What waits: a statement on a session. */
    @FunctionalInterface
    interface Statement {

        /** Waits for the lock; returns the fencing token of an exclusive one. */
        OptionalLong run(Session session) throws SQLException;
    }

    /** Where the session of a wait comes from. */
    @FunctionalInterface
    interface Source {
        Session get() throws SQLException;
    }

    /** Who hears of the end, with the room's guard held. */
    @FunctionalInterface
    interface Listener {

        /**
         * The wait has ended.
         *
         * @param session that waited; null if there is none to be had
         * @param failure why it was not granted; null if it was
         */
        void ended(ServerWait wait, @Nullable Session session, OptionalLong token, @Nullable SQLException failure);
    }

    private final ReentrantLock guard;
    private final Condition over;
    private final Source source;
    private final Statement statement;
    private final Listener listener;
    private @Nullable Session running;
    private int cancelling;
    private boolean cancelled;
    private boolean ended;

    private ServerWait(ReentrantLock guard, Source source, Statement statement, Listener listener) {
        this.guard = guard;
        this.over = guard.newCondition();
        this.source = source;
        this.statement = statement;
        this.listener = listener;
    }

    static ServerWait begin(
            Executor threads, ReentrantLock guard, Source source, Statement statement, Listener listener) {
        ServerWait wait = new ServerWait(guard, source, statement, listener);
        try {
            threads.execute(wait);
        } catch (RejectedExecutionException e) {
            wait.ended = true;
            listener.ended(wait, null, OptionalLong.empty(), new SQLException("the store was closed", "08003", e));
        }
        return wait;
    }

    static Statement statement(LockMode mode, LockId id) {
        return mode == LockMode.EXCLUSIVE
                ? session -> session.awaitToken(Sql.WAIT_EXCLUSIVE, id.hold())
                : session -> {
                    session.awaitYes(Sql.WAIT_SHARED, id.hold());
                    return OptionalLong.empty();
                };
    }

    boolean isCancelled() {
        return cancelled;
    }

    /** Breaks it off, and returns once it has ended and the listener has heard of it. Gives the guard up meanwhile. */
    void cancel() {
        cancelled = true;
        while (!ended) {
            Session waiting = running;
            if (waiting != null) {
                cancelUnguarded(waiting);
            }
            if (!ended) {
                awaitEnd();
            }
        }
    }

    private void cancelUnguarded(Session waiting) {
        cancelling++;
        guard.unlock();
        try {
            waiting.cancelWait();
        } finally {
            guard.lock();
            cancelling--;
            over.signalAll();
        }
    }

    @SuppressWarnings("WaitNotInLoop") // The caller loops.
    private void awaitEnd() {
        boolean interrupted = Thread.interrupted();
        try {
            over.await(CANCEL_AGAIN_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void run() {
        Session session = null;
        OptionalLong token = OptionalLong.empty();
        SQLException failure = null;
        try {
            session = source.get();
            if (isStillWanted(session)) {
                token = statement.run(session);
            } else {
                failure = new SQLException("cancelled before it began", "57014");
            }
        } catch (SQLException e) {
            failure = e;
        }
        end(session, token, failure);
    }

    private boolean isStillWanted(Session session) {
        guard.lock();
        try {
            running = session;
            return !cancelled;
        } finally {
            guard.unlock();
        }
    }

    private void end(@Nullable Session session, OptionalLong token, @Nullable SQLException failure) {
        guard.lock();
        try {
            running = null;
            // One that is still on its way would break off whatever the listener asks of the session. The driver
            // returns
            // once the server has passed it on, and a session that is idle then ignores it.
            while (cancelling > 0) {
                over.awaitUninterruptibly();
            }
            listener.ended(this, session, token, failure);
        } finally {
            ended = true;
            over.signalAll();
            guard.unlock();
        }
    }
}
