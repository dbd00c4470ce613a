package dev.latchkey.postgres;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
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
 * Those in this store who hold or want one advisory lock. Entered by one thread at a time, which keeps it during short
 * statements, and gives it up to wait.
 *
 * <ol>
 *   <li>The server decides; but a session never conflicts with itself, so holds that exclude each other must never be on
 *       one session: who cannot get it beside those here is refused here.
 *   <li>What is to be had at once is taken on the session that all share.
 *   <li>Those who wait form a line. Only its first waits in the server, on a session of its own, which carries the hold
 *       then: the holder's release meets it there, in the one queue of all processes.
 *   <li>A promoter is in no line: see {@link Promotion}. While one waits, nobody here begins to share.
 * </ol>
 */
final class LockEntry {

    static final Response.Refused REFUSED = new Response.Refused();
    static final Response.Lost SESSION_LOST = new Response.Lost(LossReason.SESSION_LOST);
    static final Response.Lost RELEASED = new Response.Lost(LossReason.RELEASED_ELSEWHERE);

    private static final Response.Lost TAKEN_OVER = new Response.Lost(LossReason.TAKEN_OVER);

    private final ReentrantLock guard = new ReentrantLock();
    private final Holds holds;
    private final WaitQueue line;
    private final Sessions sessions;
    private final Executor threads;
    private final LockId id;
    private boolean retired;

    LockEntry(LockId id, Sessions sessions, Executor threads) {
        this.id = id;
        this.sessions = sessions;
        this.threads = threads;
        this.holds = new Holds(id, sessions);
        this.line = new WaitQueue(id, guard, holds, sessions, threads);
    }

    /** False if this room was given up meanwhile: another stands in its place. */
    boolean enter() {
        guard.lock();
        if (retired) {
            guard.unlock();
        }
        return !retired;
    }

    /** Leaves, and returns whether the room is given up. */
    boolean leave() {
        try {
            retired = holds.isEmpty() && line.isEmpty() && !holds.isPromoting();
            return retired;
        } finally {
            guard.unlock();
        }
    }

    LockId id() {
        return id;
    }

    Holds holds() {
        return holds;
    }

    Response save(Request request) throws SQLException {
        Key key = request.key();
        boolean sessionLost = holds.removeIfDead(key);
        Hold own = holds.of(key);
        if (own != null && own.mode() == LockMode.SHARED && request.isDemotion()) {
            // A demotion that is repeated, because its answer was lost.
            return holds.renew(own) ? own.answer() : SESSION_LOST;
        }
        if (key.held().isPresent()
                && (own == null || !own.isAsClaimed(key.held().get()))) {
            return lost(own, sessionLost);
        }
        if (own == null) {
            return isTaken(request.mode()) ? Response.Conflicted.NO_HINT : holds.take(key, request.mode());
        }
        if (isPromoting(own)) {
            return request.mode() == LockMode.SHARED ? own.answer() : Response.Conflicted.NO_HINT;
        }
        if (request.isDemotion()) {
            return demote(own);
        }
        boolean isPromotion = request.mode() == LockMode.EXCLUSIVE && own.mode() == LockMode.SHARED;
        if (isPromotion) {
            return holds.promote(own);
        }
        return holds.renew(own) ? own.answer() : SESSION_LOST;
    }

    private Response lost(@Nullable Hold own, boolean sessionLost) {
        if (own != null) {
            return RELEASED;
        }
        if (sessionLost) {
            return SESSION_LOST;
        }
        return holds.isEmpty() ? RELEASED : TAKEN_OVER;
    }

    private boolean isTaken(LockMode mode) {
        return !line.isEmpty() || holds.isPromoting() || !holds.admit(mode);
    }

    private boolean isPromoting(Hold hold) {
        Promotion promotion = holds.promotion();
        return promotion != null && promotion.hold() == hold;
    }

    private Response demote(Hold own) throws SQLException {
        Response response = holds.demote(own);
        line.serve();
        return response;
    }

    Response waitAndSave(Request request, long endNanos, CompletionStage<?> withdrawn)
            throws SQLException, InterruptedException {
        Response response = saveOrConflict(request);
        if (!(response instanceof Response.Conflicted)) {
            return response;
        }
        Waiter waiter = new Waiter(request, guard.newCondition());
        withdrawn.thenRun(() -> withdraw(waiter));
        Hold own = holds.of(request.key());
        return own == null ? line.await(waiter, endNanos) : promote(waiter, own, endNanos);
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

    private Response promote(Waiter waiter, Hold own, long endNanos) throws SQLException, InterruptedException {
        if (holds.isPromoting()) {
            return REFUSED;
        }
        Promotion mine = new Promotion(id, guard, holds, sessions, threads, waiter, own);
        holds.promotionIs(mine);
        try {
            return mine.await(endNanos);
        } finally {
            holds.promotionIs(null);
            line.serve();
        }
    }

    boolean delete(Key key) throws SQLException {
        Hold own = holds.of(key);
        Promotion waiting = holds.promotion();
        if (waiting != null && waiting.hold() == own) {
            waiting.abandon();
            own = holds.of(key);
        }
        if (own == null) {
            return false;
        }
        try {
            return holds.release(own);
        } finally {
            if (waiting != null) {
                waiting.lookNow();
            }
            line.serve();
        }
    }

    Optional<Response.Granted> find(Key key) throws SQLException {
        Hold own = holds.of(key);
        if (own == null || !own.isLive()) {
            return Optional.empty();
        }
        boolean holdsStill = isPromoting(own) || holds.renew(own);
        return holdsStill ? Optional.of(own.answer()) : Optional.empty();
    }
}
