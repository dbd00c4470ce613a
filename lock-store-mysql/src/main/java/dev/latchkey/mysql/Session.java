package dev.latchkey.mysql;

import dev.latchkey.LossReason;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.mariadb.jdbc.Connection;

/**
 * One connection that carries holds. One statement runs at a time; each must be answered within {@link #ANSWER_MILLIS}, or
 * the session has ended, except one that waits for a lock. Once ended it never comes back.
 */
final class Session {

    static final int ANSWER_MILLIS = 10_000;

    /** After that long without a word from us the server ends it: {@code wait_timeout} of {@link Statements#PREPARE_SESSION}. */
    static final int SILENCE_SECONDS = 30;

    /** The clock of the server may be a little faster than ours. */
    private static final long BELIEVED_NANOS = (SILENCE_SECONDS - 1) * 1_000_000_000L;

    private static final long PING_NANOS = 250_000_000;
    private static final long TRUSTED_NANOS = 50_000_000;
    private static final long PING_AFTER_WAIT_NANOS = 5_000_000_000L;
    private static final long WAIT_PROBE_NANOS = 15_000_000_000L;

    private final ReentrantLock guard = new ReentrantLock();
    private final Connection connection;
    private final long id;
    private final String mark = "latchkey " + UUID.randomUUID();
    private final Map<String, PreparedStatement> statements = new HashMap<>();
    private final Set<Hold> holds = ConcurrentHashMap.newKeySet();
    private final BooleanSupplier liveness = this::isLive;
    private volatile @Nullable LossReason end;
    private volatile boolean expired;
    private volatile @Nullable String awaited;

    /** When the last request was sent that was answered: the server counts its silence from a later moment. */
    private volatile long aliveNanos = System.nanoTime();

    private volatile long lastSeenNanos = aliveNanos;

    /** Reads an answer. */
    @FunctionalInterface
    interface Reader<T> {
        T read(ResultSet rows) throws SQLException;
    }

    Session(Connection connection) {
        this.connection = connection;
        this.id = connection.getThreadId();
    }

    /** What the server calls it. */
    long id() {
        return id;
    }

    boolean isEnded() {
        return end != null;
    }

    Set<Hold> holds() {
        return holds;
    }

    void carry(Hold hold) {
        holds.add(hold);
        LossReason ended = end;
        if (ended != null) {
            hold.lose(ended);
        }
    }

    void drop(Hold hold) {
        holds.remove(hold);
    }

    /** What the holders ask by themselves: one object for all of them. */
    BooleanSupplier liveness() {
        return liveness;
    }

    /** False as soon as the server may have ended it for our silence, and from then on, whatever it answers. */
    boolean isLive() {
        if (System.nanoTime() - aliveNanos > BELIEVED_NANOS) {
            expired = true;
        }
        return end == null && !expired;
    }

    /** Whether there is any use in asking it; one that was silent for too long is not there any more. */
    boolean isUsable() {
        if (!isEnded() && !isLive()) {
            end(LossReason.SESSION_LOST);
        }
        return !isEnded();
    }

    /** Whether one that carried nothing, and was not watched, is still there; asks it unless it was heard just now. */
    boolean isThere() {
        return isUsable() && (System.nanoTime() - aliveNanos < TRUSTED_NANOS || ping());
    }

    boolean yes(String sql, Object... arguments) throws SQLException {
        return ask(sql, rows -> rows.next() && rows.getLong(1) > 0, arguments);
    }

    /** Whether the lock was granted. */
    boolean tryLock(LockName name) throws SQLException {
        return ask(Statements.TRY, Session::readGrant, name.value());
    }

    /** As {@link #tryLock}, but waits in the server's queue; returns false after that time at the latest. */
    boolean awaitLock(LockName name, int seconds) throws SQLException {
        guard.lock();
        try {
            checkOpen();
            awaited = mark;
            lastSeenNanos = System.nanoTime();
            connection.setNetworkTimeout(Runnable::run, seconds * 1_000 + ANSWER_MILLIS);
            boolean granted = ask(Statements.awaiting(mark), Session::readGrant, name.value(), seconds);
            connection.setNetworkTimeout(Runnable::run, ANSWER_MILLIS);
            if (granted && System.nanoTime() - aliveNanos > PING_AFTER_WAIT_NANOS) {
                // When the server granted it is not known, nor whether it was silent since: only another answer shows
                // it.
                confirm();
            }
            return granted;
        } finally {
            awaited = null;
            guard.unlock();
        }
    }

    /** One that was ended while its wait was about to begin would wait for nobody. */
    private void checkOpen() throws SQLException {
        if (isEnded()) {
            throw new SQLException("the connection has ended", "08003");
        }
    }

    private static boolean readGrant(ResultSet rows) throws SQLException {
        boolean granted = rows.next() && rows.getInt(1) == 1;
        if (rows.wasNull()) {
            throw new SQLException("GET_LOCK was broken off, as KILL QUERY does", "70100", 1317);
        }
        return granted;
    }

    private void confirm() throws SQLException {
        if (!ping()) {
            throw new SQLException("the connection broke after a long wait", "08006");
        }
    }

    <T> T ask(String sql, Reader<T> reader, Object... arguments) throws SQLException {
        return run(sql, arguments, statement -> {
            try (ResultSet rows = statement.executeQuery()) {
                return reader.read(rows);
            }
        });
    }

    /** Runs a statement that answers nothing. */
    void tell(String sql, Object... arguments) throws SQLException {
        run(sql, arguments, PreparedStatement::execute);
    }

    /** How a statement is run. */
    @FunctionalInterface
    private interface Execution<T> {
        T of(PreparedStatement statement) throws SQLException;
    }

    private <T> T run(String sql, Object[] arguments, Execution<T> execution) throws SQLException {
        guard.lock();
        try {
            long sentNanos = System.nanoTime();
            PreparedStatement statement = prepared(sql);
            for (int i = 0; i < arguments.length; i++) {
                statement.setObject(i + 1, arguments[i]);
            }
            T answer = execution.of(statement);
            answered(sentNanos);
            return answer;
        } catch (SQLException e) {
            if (Failures.endsSession(e)) {
                end(LossReason.SESSION_LOST);
            }
            throw e;
        } catch (RuntimeException | Error e) {
            // What was on its way would be read as the answer to the next statement, of whomever.
            end(LossReason.SESSION_LOST);
            throw e;
        } finally {
            closeIfEnded();
            guard.unlock();
        }
    }

    private PreparedStatement prepared(String sql) throws SQLException {
        PreparedStatement statement = statements.get(sql);
        if (statement == null) {
            statement = connection.prepareStatement(sql);
            statements.put(sql, statement);
        }
        return statement;
    }

    /** A driver that has connected again by itself, as for a URL with several hosts, has lost all that was held. */
    private void answered(long sentNanos) throws SQLException {
        if (connection.getThreadId() != id) {
            throw new SQLException("the driver has replaced the connection", "08003");
        }
        aliveNanos = sentNanos;
    }

    /** Whether it is to be pinged: nothing was asked for a while, nor is now. */
    boolean isSilent() {
        return !isEnded() && !guard.isLocked() && System.nanoTime() - aliveNanos > PING_NANOS;
    }

    /** Unless somebody has asked it something since it was looked at. */
    void pingIfSilent() {
        if (isSilent()) {
            boolean unused = ping();
        }
    }

    /** Asks the server whether it is there; if not, it has ended. Takes as long as an answer may. */
    boolean ping() {
        if (!guard.tryLock()) {
            return !isEnded();
        }
        try {
            long sentNanos = System.nanoTime();
            if (!isEnded() && connection.isValid(ANSWER_MILLIS / 1_000)) {
                answered(sentNanos);
            } else {
                end(LossReason.SESSION_LOST);
            }
        } catch (SQLException | RuntimeException | Error e) {
            end(LossReason.SESSION_LOST);
        } finally {
            closeIfEnded();
            guard.unlock();
        }
        return !isEnded();
    }

    boolean isWaiting() {
        return awaited != null && !isEnded();
    }

    /** What is in the text of the statement that waits in the server's queue now, and in no other; null if none waits. */
    @Nullable String awaited() {
        return awaited;
    }

    /** Whether it is to be asked of another session if this one is there: it waits, so nothing is heard of it. */
    boolean isUnseen() {
        return isWaiting() && System.nanoTime() - lastSeenNanos > WAIT_PROBE_NANOS;
    }

    void seen() {
        lastSeenNanos = System.nanoTime();
    }

    boolean uses(java.sql.Connection one) {
        return !isEnded() && connection == one;
    }

    /** Gives up what it carries, of which its holders are told before anybody else can have it, and closes the connection. */
    void close(LossReason reason) {
        lose(reason);
        try {
            if (awaited == null && !isEnded() && !holds.isEmpty()) {
                ask(Statements.RELEASE_ALL, ResultSet::next);
            }
        } catch (SQLException | RuntimeException | Error e) {
            // The server ends what is left with the connection. Whatever it was, the other sessions are closed after
            // it.
        }
        end(reason);
    }

    /**
     * Ends it and tells those whose holds it carried. The connection is closed now, or by the thread that waits for its
     * answer: the driver cannot close what another thread reads.
     */
    void end(LossReason reason) {
        if (end == null) {
            end = reason;
        }
        lose(reason);
        if (guard.tryLock()) {
            try {
                closeIfEnded();
            } finally {
                guard.unlock();
            }
        }
    }

    private void closeIfEnded() {
        if (!isEnded()) {
            return;
        }
        try {
            connection.close();
        } catch (SQLException | RuntimeException | Error e) {
            // It is closed already; or the driver fails, which must not keep the caller from ending the others.
        }
    }

    private void lose(LossReason reason) {
        for (Hold hold : holds) {
            try {
                hold.lose(reason);
            } catch (RuntimeException | Error e) {
                // Who hears of one hold must not keep the others from being told, and the connection from being closed.
            }
        }
    }
}
