package dev.latchkey.postgres;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Response;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Who in this store holds one advisory lock, and the statements that change it. Guarded by the room.
 *
 * <p>An error that leaves open what a session holds ends that session: the server then lets go of all of it.
 */
final class Holds {

    private final LockId id;
    private final Sessions sessions;
    private final Map<Key, Hold> holds = new HashMap<>(4);
    private @Nullable Promotion promotion;

    Holds(LockId id, Sessions sessions) {
        this.id = id;
        this.sessions = sessions;
    }

    @Nullable Hold of(Key key) {
        return holds.get(key);
    }

    Collection<Hold> all() {
        return holds.values();
    }

    boolean isEmpty() {
        return holds.isEmpty();
    }

    boolean isOnlyOne() {
        removeDead();
        return holds.size() == 1;
    }

    /** What cannot be put down has no owner who could release it: its session ends, and the server lets go of it. */
    void put(Hold hold) {
        try {
            holds.put(hold.key(), hold);
        } catch (RuntimeException | Error e) {
            hold.session().end(LossReason.SESSION_LOST);
            throw e;
        }
    }

    /** Who waits to promote; null if nobody does. */
    @Nullable Promotion promotion() {
        return promotion;
    }

    void promotionIs(@Nullable Promotion now) {
        promotion = now;
    }

    boolean isPromoting() {
        return promotion != null;
    }

    boolean removeIfDead(Key key) {
        Hold hold = holds.get(key);
        return hold != null && !hold.isLive() && holds.remove(key) != null;
    }

    void removeDead() {
        holds.values().removeIf(hold -> !hold.isLive());
    }

    /** Whether one more, in the given mode, gets on with those here. */
    boolean admit(LockMode mode) {
        removeDead();
        return holds.isEmpty()
                || (mode == LockMode.SHARED
                        && holds.values().stream().allMatch(hold -> hold.mode() == LockMode.SHARED));
    }

    /** Takes for one who holds nothing and whom those here admit. */
    Response take(Key key, LockMode mode) throws SQLException {
        Session session = sessions.shared();
        try {
            return take(key, mode, session);
        } catch (SQLException e) {
            if (!session.isEnded() || Failures.isTimeout(e)) {
                throw e;
            }
            // It may have been dead for hours, with nobody looking: all it could hold is gone with it.
            return takeAgain(key, mode, session, e);
        }
    }

    /** Unless the server has not noticed yet that it is gone: what it took then excludes us as well. */
    private Response takeAgain(Key key, LockMode mode, Session ended, SQLException failure) throws SQLException {
        Session session = sessions.shared();
        Response response = take(key, mode, session);
        if (response instanceof Response.Conflicted
                && session.yes(Statements.IS_HELD_BY, ended.pid(), id.hold(), id.hold())) {
            throw new StillHeldException(failure);
        }
        return response;
    }

    private Response take(Key key, LockMode mode, Session session) throws SQLException {
        Hold taken = mode == LockMode.EXCLUSIVE ? takeExclusive(key, session) : takeShared(key, session);
        if (taken == null) {
            return Response.Conflicted.NO_HINT;
        }
        put(taken);
        return taken.answer();
    }

    private @Nullable Hold takeExclusive(Key key, Session session) throws SQLException {
        try {
            OptionalLong token = session.token(Statements.TRY_EXCLUSIVE, id.hold());
            return token.isEmpty() ? null : Hold.exclusive(key, token, session);
        } catch (SQLException e) {
            undo(session, LockMode.EXCLUSIVE);
            throw e;
        } catch (RuntimeException | Error e) {
            session.end(LossReason.SESSION_LOST);
            throw e;
        }
    }

    /** Shares with a session that may share already. */
    @Nullable Hold takeShared(Key key, Session session) throws SQLException {
        boolean joins = holds.values().stream().anyMatch(hold -> hold.session() == session);
        try {
            boolean taken = joins
                    ? session.yes(Statements.JOIN_SHARED, id.hold(), id.hold(), id.hold())
                    : session.yes(Statements.TRY_SHARED, id.hold());
            return taken ? Hold.shared(key, session) : null;
        } catch (SQLException e) {
            if (joins) {
                session.end(LossReason.SESSION_LOST);
            } else {
                undo(session, LockMode.SHARED);
            }
            throw e;
        } catch (RuntimeException | Error e) {
            session.end(LossReason.SESSION_LOST);
            throw e;
        }
    }

    /** A session keeps what a statement has locked before it failed. */
    private void undo(Session session, LockMode mode) {
        try {
            if (!session.isEnded() && isHeldBy(session, mode)) {
                session.yes(
                        mode == LockMode.EXCLUSIVE ? Statements.UNLOCK_EXCLUSIVE : Statements.UNLOCK_SHARED, id.hold());
            }
        } catch (SQLException e) {
            session.end(LossReason.SESSION_LOST);
        }
    }

    /** Looks whether the server agrees; if not, nothing the session carries can be relied on. */
    boolean renew(Hold own) throws SQLException {
        Session session = own.session();
        try {
            if (isHeldBy(session, own.mode())) {
                return true;
            }
            session.end(LossReason.SESSION_LOST);
        } catch (SQLException e) {
            if (!session.isEnded()) {
                throw e;
            }
        }
        holds.remove(own.key());
        return false;
    }

    boolean isHeldBy(Session session, LockMode mode) throws SQLException {
        return session.yes(Statements.HOLDS, id.hold(), id.hold(), mode == LockMode.EXCLUSIVE ? 1 : 0);
    }

    /** Promotes without waiting; the shared hold stays if that cannot be. */
    Response promote(Hold own) throws SQLException {
        if (!isOnlyOne()) {
            return Response.Conflicted.NO_HINT;
        }
        long number = id.hold();
        try {
            OptionalLong token = own.session().token(Statements.PROMOTE, number, number, number, number, number);
            if (token.isEmpty()) {
                return Response.Conflicted.NO_HINT;
            }
            own.promoted(token);
            return own.answer();
        } catch (SQLException e) {
            if (Failures.isLockTimeout(e) && sharesAgain(own.session())) {
                return Response.Conflicted.NO_HINT;
            }
            own.session().end(LossReason.SESSION_LOST);
            throw e;
        }
    }

    private boolean sharesAgain(Session session) {
        try {
            restoreShared(session);
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    /** A promotion that was broken off may have been granted just before, in part or in whole. */
    void restoreShared(Session session) throws SQLException {
        if (isHeldBy(session, LockMode.EXCLUSIVE)) {
            boolean shares = isHeldBy(session, LockMode.SHARED);
            if (shares) {
                session.yes(Statements.UNLOCK_EXCLUSIVE, id.hold());
            } else {
                session.yes(Statements.DEMOTE, id.hold(), id.hold());
            }
        }
    }

    Response demote(Hold own) throws SQLException {
        try {
            if (own.session().yes(Statements.DEMOTE, id.hold(), id.hold())) {
                own.demoted();
                return own.answer();
            }
        } catch (SQLException e) {
            own.session().end(LossReason.SESSION_LOST);
            throw e;
        }
        own.session().end(LossReason.SESSION_LOST);
        return LockEntry.SESSION_LOST;
    }

    /** Gives up; false if the session did not hold it any more, or if the key has let go of it already and may hold anew. */
    boolean release(Hold own) throws SQLException {
        if (!holds.remove(own.key(), own)) {
            return false;
        }
        Session session = own.session();
        if (session.isEnded()) {
            return false;
        }
        boolean held = false;
        try {
            held = session.yes(
                    own.mode() == LockMode.EXCLUSIVE ? Statements.UNLOCK_EXCLUSIVE : Statements.UNLOCK_SHARED,
                    id.hold());
            return held;
        } finally {
            session.drop(own);
            if (!held) {
                session.end(LossReason.SESSION_LOST);
            }
            sessions.giveBack(session);
        }
    }
}
