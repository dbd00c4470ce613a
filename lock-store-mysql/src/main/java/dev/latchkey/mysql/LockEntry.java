package dev.latchkey.mysql;

import dev.latchkey.Key;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Those in this store who hold or want one lock. Entered by one thread at a time, which keeps it during short statements, and
 * gives it up to wait.
 *
 * <ol>
 *   <li>The server decides; but a session never conflicts with itself, so who wants what is held here is refused here.
 *   <li>What is to be had at once is taken on the session that all share.
 *   <li>Those who wait form a line. Only its first waits in the server, on a session of its own, which carries the hold
 *       then: the holder's release meets it there, in the one queue of all processes.
 * </ol>
 */
final class LockEntry {

    private static final Response.Lost SESSION_LOST = new Response.Lost(LossReason.SESSION_LOST);
    private static final Response.Lost RELEASED = new Response.Lost(LossReason.RELEASED_ELSEWHERE);
    private static final Response.Lost TAKEN_OVER = new Response.Lost(LossReason.TAKEN_OVER);

    private final ReentrantLock guard = new ReentrantLock();
    private final LockName name;
    private final CurrentHold current;
    private final WaitQueue line;
    private boolean retired;

    LockEntry(LockName name, Sessions sessions, Executor threads) {
        this.name = name;
        this.current = new CurrentHold(name, sessions);
        this.line = new WaitQueue(name, guard, current, sessions, threads);
    }

    /** False if this entry was given up meanwhile: another stands in its place. */
    boolean enter() {
        guard.lock();
        if (retired) {
            guard.unlock();
        }
        return !retired;
    }

    /** Leaves, and returns whether the entry is given up. */
    boolean leave() {
        try {
            retired = current.isFree() && line.isEmpty();
            return retired;
        } finally {
            guard.unlock();
        }
    }

    LockName name() {
        return name;
    }

    @Nullable Hold hold() {
        current.removeDead();
        return current.any();
    }

    Response save(Request request) throws SQLException {
        Key key = request.key();
        Hold own = current.of(key);
        boolean sessionLost = own != null && !own.isLive();
        current.removeDead();
        own = current.of(key);
        if (own != null) {
            return current.renew(own) ? own.answer() : SESSION_LOST;
        }
        if (key.held().isPresent()) {
            return lost(sessionLost);
        }
        return line.isEmpty() && current.isFree() ? current.take(key) : Response.Conflicted.NO_HINT;
    }

    private Response lost(boolean sessionLost) {
        if (sessionLost) {
            return SESSION_LOST;
        }
        return current.isFree() ? RELEASED : TAKEN_OVER;
    }

    Response waitAndSave(Request request, long endNanos, CompletionStage<?> withdrawn)
            throws SQLException, InterruptedException {
        Response response = saveOrConflict(request);
        if (!(response instanceof Response.Conflicted)) {
            return response;
        }
        Waiter waiter = new Waiter(request, guard.newCondition());
        withdrawn.thenRun(() -> withdraw(waiter));
        return line.await(waiter, endNanos);
    }

    /** Who waits can wait for the server to notice. */
    private Response saveOrConflict(Request request) throws SQLException {
        try {
            return save(request);
        } catch (StillHeldException e) {
            return Response.Conflicted.NO_HINT;
        }
    }

    private void withdraw(Waiter waiter) {
        guard.lock();
        try {
            waiter.withdraw();
        } finally {
            guard.unlock();
        }
    }

    boolean delete(Key key) throws SQLException {
        Hold own = current.of(key);
        if (own == null) {
            return false;
        }
        try {
            return current.release(own);
        } finally {
            line.serve();
        }
    }

    Optional<Response.Granted> find(Key key) throws SQLException {
        Hold own = current.of(key);
        if (own == null || !own.isLive()) {
            return Optional.empty();
        }
        return current.renew(own) ? Optional.of(own.answer()) : Optional.empty();
    }

    void removeDead() {
        current.removeDead();
        line.failEnded();
    }
}
