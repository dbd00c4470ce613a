package dev.latchkey.postgres;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Response;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Those in this store who wait for one advisory lock, first come, first served. Guarded by the room. */
final class WaitQueue {

    private final LockId id;
    private final ReentrantLock guard;
    private final Holds holds;
    private final Sessions sessions;
    private final Executor threads;
    private final Deque<Waiter> waiters = new ArrayDeque<>(2);

    WaitQueue(LockId id, ReentrantLock guard, Holds holds, Sessions sessions, Executor threads) {
        this.id = id;
        this.guard = guard;
        this.holds = holds;
        this.sessions = sessions;
        this.threads = threads;
    }

    boolean isEmpty() {
        return waiters.isEmpty();
    }

    /** Waits for the turn of one who holds nothing. */
    Response await(Waiter waiter, long endNanos) throws SQLException, InterruptedException {
        waiters.addLast(waiter);
        boolean wanted = false;
        try {
            serve();
            waiter.await(endNanos);
            wanted = !waiter.isWithdrawn();
        } finally {
            leave(waiter, wanted);
        }
        if (!wanted) {
            return Response.Conflicted.NO_HINT;
        }
        if (waiter.failure() != null) {
            throw waiter.failure();
        }
        Hold granted = waiter.granted();
        return granted == null ? Response.Conflicted.NO_HINT : granted.answer();
    }

    private void leave(Waiter waiter, boolean wanted) throws SQLException {
        try {
            ServerWait wait = waiter.serverWait();
            if (wait != null) {
                // It stays in line meanwhile: the room must not be given up before it is known whether there is a hold.
                wait.cancel();
            }
            Hold granted = waiter.granted();
            if (granted != null && !wanted && granted.removeOwner()) {
                holds.release(granted);
            }
        } finally {
            waiters.remove(waiter);
            serve();
        }
    }

    /** Has the first in line wait in the server; readers may share with those who do already, unless one waits to promote. */
    void serve() {
        Waiter first = waiters.peekFirst();
        while (first != null && first.serverWait() == null && (holds(first) || join(first) || !beginsToWait(first))) {
            waiters.remove(first);
            first = waiters.peekFirst();
        }
    }

    /** Another may have waited with the same key: a second grant would count in the server, and be nobody's to release. */
    private boolean holds(Waiter waiter) {
        Hold own = holds.of(waiter.request().key());
        if (own == null
                || !own.isLive()
                || (own.mode() == LockMode.SHARED && waiter.request().mode() != own.mode())) {
            return false;
        }
        tell(waiter, own);
        return true;
    }

    private static void tell(Waiter waiter, Hold hold) {
        hold.addOwner();
        waiter.grant(hold);
    }

    /** False if it cannot, of which it is told. */
    private boolean beginsToWait(Waiter waiter) {
        ServerWait begun = ServerWait.begin(
                threads,
                guard,
                new Connecting(sessions),
                ServerWait.statement(waiter.request().mode(), id),
                (wait, session, token, failure) -> ended(waiter, wait, session, token, failure));
        SQLException refusal = begun.refusal();
        if (refusal != null) {
            waiter.fail(refusal);
            return false;
        }
        waiter.waitsInServer(begun);
        return true;
    }

    /** A connection for each wait. */
    record Connecting(Sessions sessions) implements ServerWait.Source {

        @Override
        public Session get() throws SQLException {
            return sessions.own();
        }

        @Override
        public void unneeded(Session session) {
            sessions.giveBack(session);
        }
    }

    private boolean join(Waiter reader) {
        // A promoter does not wait for what its own session carries beside it.
        if (reader.request().mode() != LockMode.SHARED
                || holds.isEmpty()
                || holds.isPromoting()
                || !holds.admit(LockMode.SHARED)) {
            return false;
        }
        Iterator<Hold> those = holds.all().iterator();
        if (!those.hasNext()) {
            return false;
        }
        try {
            Hold hold = holds.takeShared(reader.request().key(), those.next().session());
            if (hold == null) {
                return false;
            }
            holds.put(hold);
            tell(reader, hold);
        } catch (SQLException e) {
            reader.fail(e);
        } catch (RuntimeException | Error e) {
            // It is the reader's: whoever serves the line may be another, and the reader would wait behind nobody.
            reader.fail(ServerWait.failed(e));
        }
        return true;
    }

    private void ended(
            Waiter waiter,
            ServerWait wait,
            @Nullable Session session,
            OptionalLong token,
            @Nullable SQLException failure) {
        if (session != null && failure == null) {
            grant(waiter, session, token);
        } else if (failure != null) {
            sessions.settle(session);
            if (!wait.isCancelled() || wait.isFruitless()) {
                waiter.fail(failure);
            }
        }
        if (!wait.isCancelled()) {
            waiters.remove(waiter);
            serve();
        }
    }

    /** The server has granted it already: without an owner it would stay with the session, and nobody could release it. */
    private void grant(Waiter waiter, Session session, OptionalLong token) {
        Key key = waiter.request().key();
        try {
            Hold hold = token.isPresent() ? Hold.exclusive(key, token, session) : Hold.shared(key, session);
            holds.put(hold);
            tell(waiter, hold);
        } catch (RuntimeException | Error e) {
            session.end(LossReason.SESSION_LOST);
            waiter.fail(ServerWait.failed(e));
        }
    }
}
