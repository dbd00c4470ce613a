package dev.latchkey.postgres;

import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
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

    private static final long CANCEL_AGAIN_NANOS = 20_000_000;
    private static final long LONGEST_PAUSE_NANOS = 500_000_000;

    /** A server that is there ends a statement at once; after that long, cancellations reach nobody. */
    private static final long CANCEL_NANOS = 2_000_000_000;

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

        /** Takes a session back for which nobody waited in the end: it has been asked nothing. */
        default void unneeded(Session session) {}
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

    private final Executor threads;
    private final ReentrantLock guard;
    private final Condition over;
    private final Source source;
    private final Statement statement;
    private final Listener listener;
    private @Nullable Session running;
    private @Nullable Session waited;
    private int cancelling;
    private boolean begun;
    private boolean cancelled;
    private boolean fruitless;
    private boolean ended;
    private @Nullable SQLException refusal;

    private ServerWait(Executor threads, ReentrantLock guard, Source source, Statement statement, Listener listener) {
        this.threads = threads;
        this.guard = guard;
        this.over = guard.newCondition();
        this.source = source;
        this.statement = statement;
        this.listener = listener;
    }

    /** Has it wait on another thread. If none is to be had, nobody hears of the end: there is a {@link #refusal()}. */
    static ServerWait begin(
            Executor threads, ReentrantLock guard, Source source, Statement statement, Listener listener) {
        ServerWait wait = new ServerWait(threads, guard, source, statement, listener);
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

    static Statement statement(LockMode mode, LockId id) {
        return mode == LockMode.EXCLUSIVE
                ? session -> session.awaitToken(Statements.WAIT_EXCLUSIVE, id.hold())
                : session -> {
                    session.awaitYes(Statements.WAIT_SHARED, id.hold());
                    return OptionalLong.empty();
                };
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
            if (waited != null && System.nanoTime() - endNanos >= 0) {
                fruitless = true;
                waited.end(LossReason.SESSION_LOST);
                over.signalAll();
            } else if (running != null && cancelling == 0) {
                sendCancel(running);
            }
            awaitEnd(pauseNanos);
            pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
        }
    }

    /** On another thread: it opens a connection, which may take long where the network is silent. */
    private void sendCancel(Session waiting) {
        cancelling++;
        try {
            threads.execute(() -> {
                try {
                    waiting.cancelWait();
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

    @Override
    public void run() {
        Session session = null;
        OptionalLong token = OptionalLong.empty();
        SQLException failure = null;
        try {
            session = source.get();
            if (!isStillWanted(session)) {
                source.unneeded(session);
                return;
            }
            token = statement.run(session);
        } catch (SQLException e) {
            failure = e;
        } catch (RuntimeException | Error e) {
            // Whoever waits has to be told, whatever it was.
            failure = failed(e);
        }
        end(session, token, failure);
    }

    private boolean isStillWanted(Session session) {
        guard.lock();
        try {
            begun = !cancelled;
            running = begun ? session : null;
            waited = running;
            return begun;
        } finally {
            guard.unlock();
        }
    }

    private void end(@Nullable Session session, OptionalLong token, @Nullable SQLException failure) {
        guard.lock();
        try {
            if (ended) {
                return;
            }
            running = null;
            // One that is still on its way would break off whatever the listener asks of the session. The driver
            // returns
            // once the server has passed it on, and a session that is idle then ignores it.
            while (cancelling > 0 && session != null && !session.isEnded()) {
                over.awaitUninterruptibly();
            }
            if (fruitless) {
                listener.ended(this, session, OptionalLong.empty(), unheard(failure));
            } else {
                listener.ended(this, session, token, failure);
            }
        } finally {
            ended = true;
            over.signalAll();
            guard.unlock();
        }
    }

    private static SQLException unheard(@Nullable SQLException failure) {
        return new SQLException(
                "the server did not hear that the wait was cancelled; its connection is closed", "08006", failure);
    }
}
