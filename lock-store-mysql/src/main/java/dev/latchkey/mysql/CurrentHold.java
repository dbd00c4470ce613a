package dev.latchkey.mysql;

import dev.latchkey.Key;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Response;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Who in this store holds one lock, and the statements that change it. Guarded by the entry of the lock.
 *
 * <p>The server grants a session a second time what it holds, and counts: so none is asked for a lock that this store holds.
 * An error that leaves open what a session holds ends that session: the server then lets go of all of it.
 */
final class CurrentHold {

    private final LockName name;
    private final Sessions sessions;
    private @Nullable Hold hold;

    CurrentHold(LockName name, Sessions sessions) {
        this.name = name;
        this.sessions = sessions;
    }

    @Nullable Hold of(Key key) {
        return hold != null && hold.key().equals(key) ? hold : null;
    }

    /** The one there is; null if nobody holds the lock here. */
    @Nullable Hold any() {
        return hold;
    }

    boolean isFree() {
        return hold == null;
    }

    void removeDead() {
        if (hold != null && !hold.isLive()) {
            hold = null;
        }
    }

    /** To be called with a session to which the server has granted the lock. */
    Hold put(Session session, Key key) {
        try {
            Hold granted = Hold.on(session, key);
            hold = granted;
            return granted;
        } catch (RuntimeException | Error e) {
            // Without an owner it would stay with the session, and nobody could release it.
            session.end(LossReason.SESSION_LOST);
            throw e;
        }
    }

    /** Takes what nobody holds here. */
    Response take(Key key) throws SQLException {
        Session session = sessions.shared();
        try {
            return take(key, session);
        } catch (SQLException e) {
            if (!session.isEnded() || Failures.isTimeout(e)) {
                throw e;
            }
            // It may have been dead for a while, with nobody looking: all it could hold is gone with it.
            return takeAgain(key, session, e);
        }
    }

    /** Unless the server has not noticed yet that it is gone: what it took then excludes us as well. */
    private Response takeAgain(Key key, Session ended, SQLException failure) throws SQLException {
        Session session = sessions.shared();
        Response response = take(key, session);
        if (response instanceof Response.Conflicted && session.yes(Statements.IS_HELD_BY, name.value(), ended.id())) {
            throw new StillHeldException(failure);
        }
        return response;
    }

    private Response take(Key key, Session session) throws SQLException {
        try {
            return session.tryLock(name) ? put(session, key).answer() : Response.Conflicted.NO_HINT;
        } catch (SQLException e) {
            undo(session);
            throw e;
        }
    }

    private void undo(Session session) {
        try {
            if (!session.isEnded()) {
                session.yes(Statements.RELEASE, name.value());
            }
        } catch (SQLException e) {
            session.end(LossReason.SESSION_LOST);
        }
    }

    /** Looks whether the server agrees; if not, nothing the session carries can be relied on. */
    boolean renew(Hold own) throws SQLException {
        Session session = own.session();
        try {
            if (session.isUsable() && session.yes(Statements.HOLDS, name.value()) && session.isUsable()) {
                return true;
            }
            session.end(LossReason.SESSION_LOST);
        } catch (SQLException e) {
            if (!session.isEnded()) {
                throw e;
            }
        }
        hold = null;
        return false;
    }

    /** Gives up; false if the session did not hold it any more. */
    boolean release(Hold own) throws SQLException {
        hold = null;
        Session session = own.session();
        if (!session.isUsable()) {
            return false;
        }
        boolean held = false;
        try {
            held = session.yes(Statements.RELEASE, name.value());
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
