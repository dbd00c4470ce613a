package dev.latchkey.postgres;

import dev.latchkey.LossReason;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * The connections of a store: one that all uncontended holds share, and one for each who waits, which then carries what it
 * waited for. A few that are done wait here for the next who waits.
 */
final class Sessions {

    private static final String NEW_ONES = ": give one that opens a new connection of the driver each time, such as"
            + " org.postgresql.ds.PGSimpleDataSource";
    private static final int MOST_SPARE = 8;
    private static final int OLDEST_SERVER = 130_000;

    private final DataSource source;
    private final ReentrantLock opening = new ReentrantLock();
    private final Set<Session> open = ConcurrentHashMap.newKeySet();
    private final Deque<Session> spare = new ArrayDeque<>();
    private final ReentrantLock guard = new ReentrantLock();
    private @Nullable SQLException notOpened;
    private long notOpenedNanos;
    private volatile @Nullable Session shared;
    private volatile boolean closed;

    Sessions(DataSource source) {
        this.source = source;
    }

    /** The one for all that does not wait. */
    Session shared() throws SQLException {
        Session current = shared;
        if (current != null && !current.isEnded()) {
            return current;
        }
        long since = System.nanoTime();
        opening.lock();
        try {
            current = shared;
            return current != null && !current.isEnded() ? current : openShared(since);
        } finally {
            opening.unlock();
        }
    }

    /** What failed while one waited for it, fails for him too: else the last of many would be told after as many time limits. */
    private Session openShared(long since) throws SQLException {
        SQLException before = notOpened;
        if (before != null && notOpenedNanos - since >= 0) {
            throw new SQLException(before.getMessage(), before.getSQLState(), before);
        }
        try {
            Session opened = connect();
            shared = opened;
            return opened;
        } catch (SQLException e) {
            notOpened = e;
            notOpenedNanos = System.nanoTime();
            throw e;
        }
    }

    /** One that carries nothing, for one who waits. */
    Session own() throws SQLException {
        Session found = takeSpare();
        while (found != null && !found.isUsable()) {
            discard(found);
            found = takeSpare();
        }
        return found != null ? found : connect();
    }

    boolean isShared(Session session) {
        return session == shared;
    }

    private @Nullable Session takeSpare() {
        guard.lock();
        try {
            return spare.pollLast();
        } finally {
            guard.unlock();
        }
    }

    /** To be called when a session may have nothing to carry any more. */
    void giveBack(Session session) {
        if (isShared(session) || !session.isUnused()) {
            return;
        }
        boolean keep = false;
        guard.lock();
        try {
            if (!session.isEnded() && !closed && spare.size() < MOST_SPARE) {
                keep = spare.contains(session) || spare.add(session);
            }
        } finally {
            guard.unlock();
        }
        if (!keep) {
            discard(session);
        }
    }

    /** A wait may have been broken off just after the grant: the session must hold nothing when the next one uses it. */
    void settle(@Nullable Session session) {
        if (session == null || session.isEnded()) {
            return;
        }
        try {
            session.text(Statements.UNLOCK_ALL);
            giveBack(session);
        } catch (SQLException | RuntimeException | Error e) {
            // Whatever it was, whoever waited has yet to be told.
            discard(session);
        }
    }

    void discard(Session session) {
        open.remove(session);
        session.close(LossReason.SESSION_LOST);
    }

    private Session connect() throws SQLException {
        if (closed) {
            throw new SQLException("the store was closed", "08003");
        }
        Connection connection = connectUninterrupted();
        // Else what one waits for would end what the other holds. It is not closed when refused.
        refuse(
                open.stream().anyMatch(session -> session.uses(connection)),
                "the DataSource gives the same connection again" + NEW_ONES);
        try {
            // Before anything of it is changed: it goes back as it came.
            PGConnection driver = physical(connection);
            connection.setAutoCommit(true);
            connection.setNetworkTimeout(Runnable::run, Session.ANSWER_MILLIS);
            Session session = prepared(connection, driver);
            forgetUnwatched();
            open.add(session);
            if (closed) {
                discard(session);
                throw new SQLException("the store was closed", "08003");
            }
            return session;
        } catch (SQLException | RuntimeException | Error e) {
            connection.close();
            throw e;
        }
    }

    /** A pool would lend what carries our locks to others, and get it back with our settings. */
    private static PGConnection physical(Connection connection) throws SQLException {
        refuse(
                !connection.isWrapperFor(PGConnection.class),
                "the DataSource gives connections of another driver than PostgreSQL's");
        PGConnection driver = connection.unwrap(PGConnection.class);
        refuse(driver != connection, "the DataSource is a pool, or wraps its connections" + NEW_ONES);
        return driver;
    }

    /** The driver gives up connecting when it is interrupted: it is asked again, and the flag is kept. */
    private Connection connectUninterrupted() throws SQLException {
        boolean interrupted = false;
        try {
            while (true) {
                interrupted |= Thread.interrupted();
                try {
                    return source.getConnection();
                } catch (SQLException e) {
                    if (!Thread.currentThread().isInterrupted()) {
                        throw e;
                    }
                } catch (RuntimeException e) {
                    throw new SQLException("the DataSource failed: " + e, "08001", e);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static Session prepared(Connection connection, PGConnection driver) throws SQLException {
        Session session = new Session(connection, driver, 0);
        try {
            inspect(session, driver, Statements.PREPARE_SESSION);
        } catch (SQLException e) {
            if (!Failures.isRefusedValue(e)) {
                throw e;
            }
            inspect(session, driver, Statements.PREPARE_SESSION_UNSEEN);
        }
        return new Session(connection, driver, session.ask(Statements.PREPARE_TOKENS, row -> row.getLong(1)));
    }

    private static void inspect(Session session, PGConnection driver, String sql) throws SQLException {
        String unused = session.ask(
                sql,
                row -> {
                    refuse(
                            driver.getBackendPID() != row.getInt(1),
                            "a connection pooler stands between us and the server, and"
                                    + " would mix up whose session holds what: connect to the server itself");
                    refuse(
                            row.getBoolean(2),
                            "this server is a standby, whose locks nobody else sees: connect to the primary,"
                                    + " for instance with targetServerType=primary");
                    refuse(row.getInt(3) < OLDEST_SERVER, "the server is older than PostgreSQL 13");
                    return "";
                },
                driver.getBackendPID());
    }

    private static void refuse(boolean unfit, String problem) throws SQLException {
        if (unfit) {
            throw new SQLException(problem, "0A000");
        }
    }

    /** Ends those that wait and are not there any more, as the server says, or as it does not answer at all. */
    void checkWaiting(Collection<Session> waiting) {
        for (Session session : waiting) {
            session.seen();
        }
        for (Session session : waiting) {
            if (session.isWaiting() && !isThere(session)) {
                session.end(LossReason.SESSION_LOST);
            }
        }
    }

    private boolean isThere(Session session) {
        try {
            return shared().yes(Statements.IS_THERE, session.pid());
        } catch (SQLException e) {
            // One that answers, and has no connection for us, has said nothing about this one.
            return !Failures.endsSession(e);
        }
    }

    /** All that are open now. */
    Set<Session> open() {
        return open;
    }

    void forgetEnded() {
        open.removeIf(Session::isEnded);
    }

    /** Those that have ended and carry nothing: whoever is never granted anything has no watch, which forgets the others. */
    private void forgetUnwatched() {
        open.removeIf(session -> session.isEnded() && session.isUnused());
    }

    boolean isClosed() {
        return closed;
    }

    void close() {
        closed = true;
        open.forEach(session -> session.close(LossReason.STORE_CLOSED));
        open.clear();
    }
}
