package dev.latchkey.mysql;

import dev.latchkey.spi.Response;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Those in this store who wait for one lock, first come, first served. Guarded by the entry of the lock. */
final class WaitQueue {

    private final LockName name;
    private final ReentrantLock guard;
    private final CurrentHold current;
    private final Sessions sessions;
    private final Executor threads;
    private final Deque<Waiter> waiters = new ArrayDeque<>(2);

    WaitQueue(LockName name, ReentrantLock guard, CurrentHold current, Sessions sessions, Executor threads) {
        this.name = name;
        this.guard = guard;
        this.current = current;
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
                // It stays in line meanwhile: the entry must not be given up before it is known whether there is a
                // hold.
                wait.cancel();
            }
            Hold granted = waiter.granted();
            if (granted != null && !wanted && granted.removeOwner()) {
                current.release(granted);
            }
        } finally {
            waiters.remove(waiter);
            serve();
        }
    }

    /** Has the first in line wait in the server. */
    void serve() {
        Waiter first = waiters.peekFirst();
        while (first != null && first.serverWait() == null && (holds(first) || !beginsToWait(first))) {
            waiters.remove(first);
            first = waiters.peekFirst();
        }
    }

    /** Another may have waited with the same key: in the server, it would wait for itself. */
    private boolean holds(Waiter waiter) {
        Hold own = current.of(waiter.request().key());
        if (own == null || !own.isLive()) {
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
                threads, guard, sessions, name, (wait, session, failure) -> ended(waiter, wait, session, failure));
        SQLException refusal = begun.refusal();
        if (refusal != null) {
            waiter.fail(refusal);
            return false;
        }
        waiter.waitsInServer(begun);
        return true;
    }

    private void ended(Waiter waiter, ServerWait wait, @Nullable Session session, @Nullable SQLException failure) {
        if (session != null && failure == null) {
            grant(waiter, session);
        } else if (failure != null) {
            if (session != null) {
                sessions.settle(session);
            }
            if (!wait.isCancelled() || wait.isFruitless()) {
                waiter.fail(failure);
            }
        }
        if (!wait.isCancelled()) {
            waiters.remove(waiter);
            serve();
        }
    }

    private void grant(Waiter waiter, Session session) {
        try {
            tell(waiter, current.put(session, waiter.request().key()));
        } catch (RuntimeException | Error e) {
            waiter.fail(ServerWait.failed(e));
        }
    }

    /** The thread that waits for an answer may wait for it much longer than anybody should. */
    void failEnded() {
        Waiter first = waiters.peekFirst();
        ServerWait wait = first == null ? null : first.serverWait();
        if (wait != null) {
            wait.endIfItsSessionHas();
        }
    }
}
