package dev.latchkey.postgres;

import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Response;
import java.sql.SQLException;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One who shares and waits to hold exclusively; guarded by the room.
 *
 * <ol>
 *   <li>A second advisory lock says that somebody waits to promote: the next one, here or elsewhere, is refused, for each
 *       would wait for the other.
 *   <li>The session that all share must not wait. So the hold moves to a session of its own, which shares before the other
 *       one stops to, and waits there; the server puts it before all writers, for they wait for it.
 *   <li>Its wait is begun anew every few seconds, for only an answer shows that what it carries is still there. From the
 *       first time on another session waits behind it as a writer does: else whoever waits to share would get in each time.
 *   <li>While a writer waits already, no other session may begin to share. Then it stays where it is and looks again and
 *       again, with growing pauses; the waiting writer keeps new readers out. Should that one give up, the hold moves.
 * </ol>
 */
final class Promotion {

    private static final long SHORTEST_PAUSE_NANOS = 1_000_000;
    private static final long LONGEST_PAUSE_NANOS = 50_000_000;

    /** As {@link Statements#WAIT_PROMOTION} says. */
    private static final int WAIT_MILLIS = 5_000;

    private final LockId id;
    private final ReentrantLock guard;
    private final Holds holds;
    private final Sessions sessions;
    private final Executor threads;
    private final Waiter waiter;
    private final Hold hold;
    private @Nullable ServerWait barrier;
    private boolean abandoned;
    private boolean deadlocked;
    private boolean over;

    Promotion(
            LockId id,
            ReentrantLock guard,
            Holds holds,
            Sessions sessions,
            Executor threads,
            Waiter waiter,
            Hold hold) {
        this.id = id;
        this.guard = guard;
        this.holds = holds;
        this.sessions = sessions;
        this.threads = threads;
        this.waiter = waiter;
        this.hold = hold;
    }

    Hold hold() {
        return hold;
    }

    Response await(long endNanos) throws SQLException, InterruptedException {
        Session session = ownSession();
        // Else a deletion of the hold would give it back, and the next who waits would keep us waiting.
        session.keep();
        boolean wanted = false;
        try {
            String prepared = session.text(Statements.PREPARE_PROMOTION, id.promotion(), id.hold());
            if (prepared.equals("REFUSED")) {
                return LockEntry.REFUSED;
            }
            try {
                if (prepared.equals("QUEUED")) {
                    lookAgain(session, endNanos);
                } else if (move(session)) {
                    awaitOn(session, endNanos);
                }
                wanted = !waiter.isWithdrawn();
            } finally {
                end(session, wanted);
            }
        } catch (SQLException | RuntimeException | Error e) {
            // What it has locked by then is open, and would keep others out as long as it is a spare.
            session.end(LossReason.SESSION_LOST);
            throw e;
        } finally {
            session.letGo();
            sessions.giveBack(session);
        }
        return outcome(wanted);
    }

    private Response outcome(boolean wanted) throws SQLException {
        if (abandoned) {
            return LockEntry.RELEASED;
        }
        if (!hold.isLive()) {
            return LockEntry.SESSION_LOST;
        }
        if (deadlocked) {
            return LockEntry.REFUSED;
        }
        if (waiter.failure() != null) {
            throw waiter.failure();
        }
        return wanted && waiter.granted() != null ? hold.answer() : Response.Conflicted.NO_HINT;
    }

    /** The session of the hold if nothing else needs it, else another. */
    private Session ownSession() throws SQLException {
        Session current = hold.session();
        if (!sessions.isShared(current) && current.carriesOnly(hold)) {
            return current;
        }
        // A new connection takes a while: a release must not wait for it.
        guard.unlock();
        try {
            return sessions.own();
        } finally {
            guard.lock();
        }
    }

    /** Shares with the given session alone, which does already; false if the hold was lost or given up before. */
    private boolean move(Session session) throws SQLException {
        if (abandoned || !hold.isLive()) {
            session.yes(Statements.UNLOCK_SHARED, id.hold());
            return false;
        }
        Session before = hold.session();
        if (!stopsSharing(before)) {
            before.end(LossReason.SESSION_LOST);
            session.end(LossReason.SESSION_LOST);
            return false;
        }
        if (before != session) {
            hold.moveTo(session);
            sessions.giveBack(before);
        }
        return true;
    }

    /** Without an answer it is open whether the session still shares: the hold must not be believed in. */
    private boolean stopsSharing(Session session) throws SQLException {
        try {
            return session.yes(Statements.UNLOCK_SHARED, id.hold());
        } catch (SQLException e) {
            session.end(LossReason.SESSION_LOST);
            throw e;
        }
    }

    private void awaitOn(Session session, long endNanos) throws InterruptedException {
        ServerWait begun = ServerWait.begin(
                threads,
                guard,
                () -> session,
                this::awaitOn,
                (wait, waited, token, failure) -> ended(wait, token, failure));
        waiter.waitsInServer(begun);
        SQLException refusal = begun.refusal();
        if (refusal != null) {
            waiter.fail(refusal);
        }
        waiter.await(endNanos);
    }

    /** Again and again: what the session carries is believed only as long as it answers. */
    private OptionalLong awaitOn(Session session) throws SQLException {
        while (true) {
            try {
                return session.awaitTokenFor(WAIT_MILLIS, Statements.WAIT_PROMOTION, id.hold(), id.hold());
            } catch (SQLException e) {
                if (!Failures.isLockTimeout(e)) {
                    throw e;
                }
            }
            // The end of the time may have crossed the grant.
            holds.restoreShared(session);
            keepReadersOut();
        }
    }

    private void keepReadersOut() {
        guard.lock();
        try {
            if (barrier == null && !over) {
                ServerWait begun = ServerWait.begin(
                        threads,
                        guard,
                        new WaitQueue.Connecting(sessions),
                        ServerWait.statement(LockMode.EXCLUSIVE, id),
                        (wait, session, token, failure) -> barrierEnded(session));
                barrier = begun.refusal() == null ? begun : null;
            }
        } finally {
            guard.unlock();
        }
    }

    /** Cancelled, broken, or granted because what we shared is gone. */
    private void barrierEnded(@Nullable Session session) {
        barrier = null;
        sessions.settle(session);
    }

    private void ended(ServerWait wait, OptionalLong token, @Nullable SQLException failure) {
        if (token.isPresent()) {
            hold.promoted(token);
            waiter.grant(hold);
        } else if (failure != null) {
            restoreShared();
            deadlocked = Failures.isDeadlock(failure);
            if (!wait.isCancelled() || wait.isFruitless()) {
                waiter.fail(failure);
            }
        }
    }

    /** The wait may have been broken off just after the grant. */
    private void restoreShared() {
        Session session = hold.session();
        try {
            if (!session.isEnded()) {
                holds.restoreShared(session);
            }
        } catch (SQLException | RuntimeException | Error e) {
            session.end(LossReason.SESSION_LOST);
        }
    }

    private void lookAgain(Session session, long endNanos) throws SQLException, InterruptedException {
        long pauseNanos = SHORTEST_PAUSE_NANOS;
        while (!waiter.isOver() && !abandoned && hold.isLive()) {
            if (holds.promote(hold) instanceof Response.Granted) {
                waiter.grant(hold);
                return;
            }
            if (session.yes(Statements.TRY_SHARED, id.hold())) {
                // The writer has gone without the lock: from now on nobody but us keeps new readers out.
                if (move(session)) {
                    awaitOn(session, endNanos);
                }
                return;
            }
            long left = endNanos - System.nanoTime();
            if (left <= 0) {
                return;
            }
            waiter.pause(Math.min(left, pauseNanos));
            pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
        }
    }

    /** Another reader here has gone. */
    void lookNow() {
        waiter.wake();
    }

    /** Its shared hold is about to be deleted: returns once the session is free for that. */
    void abandon() {
        abandoned = true;
        waiter.withdraw();
        ServerWait wait = waiter.serverWait();
        if (wait != null) {
            wait.cancel();
        }
    }

    private void end(Session session, boolean wanted) throws SQLException {
        ServerWait wait = waiter.serverWait();
        if (wait != null) {
            wait.cancel();
        }
        over = true;
        ServerWait behind = barrier;
        if (behind != null) {
            behind.cancel();
        }
        if (waiter.granted() != null && !wanted && !abandoned && hold.isLive()) {
            holds.demote(hold);
        }
        if (!session.isEnded()) {
            session.yes(Statements.UNLOCK_EXCLUSIVE, id.promotion());
        }
    }
}
