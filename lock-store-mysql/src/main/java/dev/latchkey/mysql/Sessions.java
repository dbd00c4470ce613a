package dev.latchkey.mysql;

import dev.latchkey.LossReason;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.mariadb.jdbc.Connection;
import org.mariadb.jdbc.MariaDbPoolDataSource;

/**
 * The connections of a store: one that all uncontended holds share, and one for each who waits, which then carries what it
 * waited for. A few that are done wait here for the next who waits.
 */
final class Sessions {

    private static final int MOST_SPARE = 8;

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
        if (current != null && current.isUsable()) {
            return current;
        }
        long since = System.nanoTime();
        opening.lock();
        try {
            current = shared;
            return current != null && current.isUsable() ? current : openShared(since);
        } finally {
            opening.unlock();
        }
    }

    /** What failed while one waited for it, fails for him too: else the last of many would be told after as many time limits. */
    private Session openShared(long since) throws SQLException {
        SQLException before = notOpened;
        if (before != null && notOpenedNanos - since >= 0) {
            throw new NotConnectedException(before);
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
        while (found != null && !found.isThere()) {
            discard(found);
            found = takeSpare();
        }
        return found != null ? found : connect();
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
        if (session == shared || !session.holds().isEmpty()) {
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
    void settle(Session session) {
        if (session.isEnded()) {
            return;
        }
        try {
            session.ask(Statements.RELEASE_ALL, ResultSet::next);
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

    /**
     * Breaks off a wait that another thread is in, if this server knows it. Without effect if it has not begun there, or has
     * ended: repeat until it has.
     */
    void cancelWait(Session waiting) {
        String mark = waiting.awaited();
        if (mark == null) {
            return;
        }
        try {
            Session asking = shared();
            if (asking.yes(Statements.IS_WAITING, waiting.id(), mark)) {
                asking.tell(Statements.CANCEL, waiting.id());
            }
        } catch (SQLException e) {
            // It has ended meanwhile; or the server does not answer, and whoever waits will not wait for that.
        }
    }

    private Session connect() throws SQLException {
        try {
            checkOpen();
            Session session = prepared(another());
            forgetUnwatched();
            open.add(session);
            if (closed) {
                discard(session);
                checkOpen();
            }
            return session;
        } catch (SQLException e) {
            throw new NotConnectedException(e);
        }
    }

    private void checkOpen() throws SQLException {
        if (closed) {
            throw new SQLException("the store was closed", "08003");
        }
    }

    /** One that no session has: else what one waits for would end what the other holds. It is not closed when refused. */
    private java.sql.Connection another() throws SQLException {
        java.sql.Connection connection = connection();
        refuse(
                open.stream().anyMatch(session -> session.uses(connection)),
                "the DataSource gives the same connection again" + NEW_ONES);
        return connection;
    }

    private java.sql.Connection connection() throws SQLException {
        refuse(source instanceof MariaDbPoolDataSource, POOL);
        try {
            return source.getConnection();
        } catch (RuntimeException e) {
            throw new SQLException("the DataSource failed: " + e, "08001", e);
        }
    }

    private static final String NEW_ONES = ": give one that opens a new connection of the driver each time, such as"
            + " org.mariadb.jdbc.MariaDbDataSource";
    private static final String POOL = "the DataSource is a pool, or wraps its connections" + NEW_ONES;

    private static Session prepared(java.sql.Connection connection) throws SQLException {
        try {
            // Before anything of it is changed: it goes back as it came.
            Connection driver = physical(connection);
            driver.setNetworkTimeout(Runnable::run, Session.ANSWER_MILLIS);
            Session session = new Session(driver);
            inspect(session);
            driver.setAutoCommit(true);
            session.tell(Statements.PREPARE_SESSION);
            // Also shows a server that is too old to know it.
            session.ask(Statements.RELEASE_ALL, ResultSet::next);
            return session;
        } catch (SQLException | RuntimeException | Error e) {
            connection.close();
            throw e;
        }
    }

    /** A pool would lend what carries our locks to others, and get it back with our settings. */
    private static Connection physical(java.sql.Connection connection) throws SQLException {
        refuse(
                !connection.isWrapperFor(Connection.class),
                "the DataSource gives connections of another driver than MariaDB's");
        Connection driver = connection.unwrap(Connection.class);
        refuse(driver != connection, POOL);
        return driver;
    }

    private static void inspect(Session session) throws SQLException {
        boolean inspected = session.ask(Statements.INSPECT_SESSION, rows -> {
            refuse(
                    !rows.next() || session.id() != rows.getLong(1),
                    "a proxy stands between us and the server, and would mix up whose session holds what: connect to the"
                            + " server itself");
            String readOnly = rows.getString(2);
            refuse(
                    !"0".equals(readOnly) && !"OFF".equalsIgnoreCase(readOnly),
                    "this server is read-only, as a replica is, whose locks nobody else sees: connect to the primary");
            return true;
        });
        boolean galera =
                session.ask(Statements.INSPECT_GALERA, rows -> rows.next() && "ON".equalsIgnoreCase(rows.getString(2)));
        refuse(
                inspected && galera,
                "this server is a node of a Galera cluster, whose other nodes do not see its locks");
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
            return shared().yes(Statements.IS_THERE, session.id());
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

    /**
     * Those that have ended and carry nothing: whoever is never granted anything has no watch, which forgets the others. One that
     * waits is told by the watch.
     */
    private void forgetUnwatched() {
        open.removeIf(session -> session.isEnded() && session.holds().isEmpty() && session.awaited() == null);
    }

    boolean isClosed() {
        return closed;
    }

    void close() {
        closed = true;
        open.stream().filter(Session::isWaiting).forEach(this::cancelWait);
        open.forEach(session -> session.close(LossReason.STORE_CLOSED));
        open.clear();
    }
}
