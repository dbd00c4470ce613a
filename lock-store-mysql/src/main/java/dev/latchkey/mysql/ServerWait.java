package dev.latchkey.mysql;

import dev.latchkey.LossReason;
import java.sql.SQLException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One wait in the server's queue, on a session and a thread of its own: nothing but a cancellation ends it early. Guarded by
 * the entry of the lock.
 *
 * <p>Now and then it begins again, at the end of the queue: a thread that waits for an answer of a server that is gone ends
 * then, for nothing else could end it.
 */
final class ServerWait implements Runnable {

    private static final int SLICE_SECONDS = 300;
    private static final long CANCEL_AGAIN_NANOS = 20_000_000;
    private static final long LONGEST_PAUSE_NANOS = 500_000_000;

    /** A server that is there ends a statement at once; after that long, cancellations reach nobody. */
    private static final long CANCEL_NANOS = 2_000_000_000;

    /** Who hears of the end, with the guard of the entry held. */
    @FunctionalInterface
    interface Listener {

        /**
         * The wait has ended.
         *
         * @param session that waited, and carries the lock if there is no failure; null if there is none to be had
         * @param failure why it was not granted; null if it was
         */
        void ended(ServerWait wait, @Nullable Session session, @Nullable SQLException failure);
    }

    private final Executor threads;
    private final ReentrantLock guard;
    private final Condition over;
    private final Sessions sessions;
    private final LockName name;
    private final Listener listener;
    private @Nullable Session waiting;
    private int cancelling;
    private boolean begun;
    private boolean cancelled;
    private boolean fruitless;
    private boolean ended;
    private @Nullable SQLException refusal;

    private ServerWait(Executor threads, ReentrantLock guard, Sessions sessions, LockName name, Listener listener) {
        this.threads = threads;
        this.guard = guard;
        this.over = guard.newCondition();
        this.sessions = sessions;
        this.name = name;
        this.listener = listener;
    }

    /** Has it wait on another thread. If none is to be had, nobody hears of the end: there is a {@link #refusal()}. */
    static ServerWait begin(
            Executor threads, ReentrantLock guard, Sessions sessions, LockName name, Listener listener) {
        ServerWait wait = new ServerWait(threads, guard, sessions, name, listener);
        try {
            threads.execute(wait);
        } catch (RejectedExecutionException e) {
            wait.refuse(new SQLException("the store was closed", "08003", e));
        } catch (OutOfMemoryError e) {
            wait.refuse(new SQLException("no thread to wait on: " + e.getMessage(), "53200", e));
        } catch (RuntimeException | Error e) {
            wait.refuse(failed(e));
        }
        return wait;
    }

    private void refuse(SQLException why) {
        ended = true;
        refusal = why;
    }

    /** What whoever waits is told of something else than an answer of the server. */
    static SQLException failed(Throwable cause) {
        return new SQLException("the wait failed: " + cause, "58000", cause);
    }

    /** Why it did not begin; null if it did. */
    @Nullable SQLException refusal() {
        return refusal;
    }

    boolean isCancelled() {
        return cancelled;
    }

    /** Whether the server did not hear that it was cancelled: then what came of it is a failure. */
    boolean isFruitless() {
        return fruitless;
    }

    /**
     * Breaks it off, and returns once it has ended and the listener has heard of it, or at once if the server was asked
     * nothing yet, of which nobody hears. Gives the guard up meanwhile.
     */
    void cancel() {
        cancelled = true;
        ended |= !begun;
        long endNanos = System.nanoTime() + CANCEL_NANOS;
        long pauseNanos = CANCEL_AGAIN_NANOS;
        while (!ended) {
            Session session = waiting;
            if (session != null && System.nanoTime() - endNanos >= 0) {
                fruitless = true;
                session.end(LossReason.SESSION_LOST);
                finish(session, new SQLException("the server did not hear that the wait was cancelled", "08006"));
                return;
            }
            if (session != null && cancelling == 0) {
                sendCancel(session);
            }
            awaitEnd(pauseNanos);
            pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
        }
    }

    /** On another thread: an answer takes long where the network is silent. */
    private void sendCancel(Session session) {
        cancelling++;
        try {
            threads.execute(() -> {
                try {
                    sessions.cancelWait(session);
                } finally {
                    cancelSent();
                }
            });
        } catch (RuntimeException | Error e) {
            // The store is closed, and so is the session; or there is no thread, and the next try may find one.
            cancelling--;
        }
    }

    private void cancelSent() {
        guard.lock();
        try {
            cancelling--;
            over.signalAll();
        } finally {
            guard.unlock();
        }
    }

    @SuppressWarnings("WaitNotInLoop") // The caller loops.
    private void awaitEnd(long nanos) {
        boolean interrupted = Thread.interrupted();
        try {
            over.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** To be called when sessions have ended: the thread that waits for an answer may not have noticed. */
    void endIfItsSessionHas() {
        if (!ended && waiting != null && waiting.isEnded()) {
            finish(waiting, new SQLException("the connection of the wait has ended", "08006"));
        }
    }

    @Override
    public void run() {
        Session session = null;
        SQLException failure = null;
        try {
            session = sessions.own();
            boolean granted = false;
            while (!granted) {
                if (!isStillWanted(session)) {
                    return;
                }
                granted = session.awaitLock(name, SLICE_SECONDS);
            }
        } catch (SQLException e) {
            failure = e;
        } catch (RuntimeException | Error e) {
            // Whoever waits has to be told, whatever it was.
            failure = failed(e);
        }
        end(session, failure);
    }

    /** Else the session goes back, which has nothing. */
    private boolean isStillWanted(Session session) {
        guard.lock();
        try {
            if (!cancelled) {
                begun = true;
                waiting = session;
                return true;
            }
            awaitCancels(session);
            sessions.giveBack(session);
            if (!ended) {
                ended = true;
                over.signalAll();
            }
            return false;
        } finally {
            guard.unlock();
        }
    }

    private void end(@Nullable Session session, @Nullable SQLException failure) {
        guard.lock();
        try {
            if (ended) {
                // Given up meanwhile: whatever the server has granted goes with the connection.
                if (session != null) {
                    sessions.discard(session);
                }
                return;
            }
            if (session != null) {
                waiting = null;
                awaitCancels(session);
            }
            finish(session, failure);
        } finally {
            guard.unlock();
        }
    }

    /** One that is still on its way would break off whatever is asked of the session next. */
    private void awaitCancels(Session session) {
        while (cancelling > 0 && !session.isEnded()) {
            over.awaitUninterruptibly();
        }
    }

    private void finish(@Nullable Session session, @Nullable SQLException failure) {
        try {
            listener.ended(this, session, failure);
        } finally {
            ended = true;
            over.signalAll();
        }
    }
}
