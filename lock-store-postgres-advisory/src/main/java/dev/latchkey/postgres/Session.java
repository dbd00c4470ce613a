package dev.latchkey.postgres;

import dev.latchkey.LossReason;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * One connection that carries holds. One statement runs at a time; each must be answered within {@link #ANSWER_MILLIS}, or
 * the session has ended, except one that waits for a lock. Once ended it never comes back.
 */
final class Session {

    static final int ANSWER_MILLIS = 10_000;

    private static final long PROBE_NANOS = 5_000_000_000L;
    private static final long LOOK_NANOS = 50_000_000;
    private static final long WAIT_PROBE_NANOS = 15_000_000_000L;

    private final ReentrantLock guard = new ReentrantLock();
    private final Connection connection;
    private final PGConnection driver;
    private final long timeline;
    private final Map<String, PreparedStatement> statements = new HashMap<>();
    private final Set<Hold> holds = ConcurrentHashMap.newKeySet();
    private volatile @Nullable LossReason end;
    private volatile boolean waits;
    private volatile boolean kept;
    private volatile long lastHeardNanos = System.nanoTime();
    private volatile long lastSeenNanos = lastHeardNanos;

    /** Reads an answer. */
    @FunctionalInterface
    interface Reader<T> {
        T read(ResultSet rows) throws SQLException;
    }

    Session(Connection connection, PGConnection driver, long timeline) {
        this.connection = connection;
        this.driver = driver;
        this.timeline = timeline;
    }

    /** The server process behind it. */
    int pid() {
        return driver.getBackendPID();
    }

    boolean isEnded() {
        return end != null;
    }

    /** Whether nobody needs it: it carries nothing, and is not kept. */
    boolean isUnused() {
        return holds.isEmpty() && !kept;
    }

    /** Has it stay with one who works with it, whether it carries something or not. */
    void keep() {
        kept = true;
    }

    void letGo() {
        kept = false;
    }

    boolean carriesOnly(Hold hold) {
        return holds.size() == 1 && holds.contains(hold);
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

    boolean yes(String sql, long... numbers) throws SQLException {
        return ask(sql, row -> row.getBoolean(1), numbers);
    }

    /** The fencing token that came with a grant; empty if it was not granted. */
    OptionalLong token(String sql, long... numbers) throws SQLException {
        return ask(sql, this::readToken, numbers);
    }

    /** As {@link #token}, however long it takes. */
    OptionalLong awaitToken(String sql, long... numbers) throws SQLException {
        return await(0, sql, this::readToken, numbers);
    }

    /** As {@link #token}, of a statement that the server ends after a while. */
    OptionalLong awaitTokenFor(int millis, String sql, long... numbers) throws SQLException {
        return await(millis + ANSWER_MILLIS, sql, this::readToken, numbers);
    }

    void awaitYes(String sql, long... numbers) throws SQLException {
        await(0, sql, row -> row.getBoolean(1), numbers);
    }

    String text(String sql, long... numbers) throws SQLException {
        return ask(sql, row -> row.getString(1), numbers);
    }

    private OptionalLong readToken(ResultSet row) throws SQLException {
        long transaction = row.getLong(1);
        return row.wasNull() ? OptionalLong.empty() : OptionalLong.of((timeline << 48) | transaction);
    }

    private <T> T await(int limitMillis, String sql, Reader<T> reader, long... numbers) throws SQLException {
        guard.lock();
        try {
            waits = true;
            lastSeenNanos = System.nanoTime();
            connection.setNetworkTimeout(Runnable::run, limitMillis);
            T answer = ask(sql, reader, numbers);
            connection.setNetworkTimeout(Runnable::run, ANSWER_MILLIS);
            return answer;
        } catch (SQLException e) {
            if (!isEnded()) {
                connection.setNetworkTimeout(Runnable::run, ANSWER_MILLIS);
            }
            throw e;
        } finally {
            waits = false;
            guard.unlock();
        }
    }

    /** Runs a statement that answers with one row. */
    <T> T ask(String sql, Reader<T> reader, long... numbers) throws SQLException {
        return askForRows(
                sql,
                rows -> {
                    rows.next();
                    return reader.read(rows);
                },
                numbers);
    }

    <T> T askForRows(String sql, Reader<T> reader, long... numbers) throws SQLException {
        guard.lock();
        try {
            PreparedStatement statement = prepared(sql);
            for (int i = 0; i < numbers.length; i++) {
                statement.setLong(i + 1, numbers[i]);
            }
            try (ResultSet rows = statement.executeQuery()) {
                return reader.read(rows);
            }
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
            lastHeardNanos = System.nanoTime();
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

    /** Breaks the wait off that runs on another thread. Without effect if none runs now, so repeat until it has ended. */
    void cancelWait() {
        try {
            driver.cancelQuery();
        } catch (SQLException e) {
            end(LossReason.SESSION_LOST);
        }
    }

    /** Looks, without a statement, whether the connection was closed; a statement that runs now will notice by itself. */
    void look() {
        if (isEnded() || !guard.tryLock()) {
            return;
        }
        try {
            driver.getNotifications(1);
        } catch (SQLException | RuntimeException | Error e) {
            end(LossReason.SESSION_LOST);
        } finally {
            guard.unlock();
        }
    }

    /** Whether one that carried nothing, and was not watched, is still open; a look takes a millisecond. */
    boolean isUsable() {
        if (System.nanoTime() - lastHeardNanos > LOOK_NANOS) {
            look();
        }
        return !isEnded();
    }

    /** Whether it is to be probed: nothing was asked for long, nor is now. */
    boolean isSilent() {
        return !isEnded() && !guard.isLocked() && System.nanoTime() - lastHeardNanos > PROBE_NANOS;
    }

    boolean isWaiting() {
        return waits && !isEnded();
    }

    /** Whether it is to be asked of another session if this one is there: it waits, so nothing is heard of it. */
    boolean isUnseen() {
        return isWaiting() && System.nanoTime() - lastSeenNanos > WAIT_PROBE_NANOS;
    }

    void seen() {
        lastSeenNanos = System.nanoTime();
    }

    /**
     * A network that has gone silent closes nothing: an empty query has to be answered before the server gives us up. Takes
     * as long as an answer may.
     */
    void probe() {
        if (!guard.tryLock()) {
            return;
        }
        try {
            if (!connection.isValid(ANSWER_MILLIS / 1_000)) {
                end(LossReason.SESSION_LOST);
            }
        } catch (SQLException | RuntimeException | Error e) {
            end(LossReason.SESSION_LOST);
        } finally {
            lastHeardNanos = System.nanoTime();
            guard.unlock();
        }
    }

    boolean uses(Connection one) {
        return !isEnded() && connection == one;
    }

    /** Gives up what it carries, of which its holders are told before anybody else can have it, and closes the connection. */
    void close(LossReason reason) {
        tell(reason);
        try {
            if (waits) {
                driver.cancelQuery();
            } else if (!isEnded()) {
                giveUpAll();
            }
        } catch (SQLException | RuntimeException | Error e) {
            // The server ends what is left with the connection. Whatever it was, the other sessions are closed after
            // it.
        }
        end(reason);
    }

    private void giveUpAll() throws SQLException {
        if (!holds.isEmpty()) {
            text(Statements.UNLOCK_ALL);
        }
        connection.close();
    }

    /** Ends it without a word to the server, which may not answer; tells those whose holds it carried. */
    void end(LossReason reason) {
        if (end == null) {
            end = reason;
        }
        tell(reason);
        try {
            connection.abort(Runnable::run);
        } catch (SQLException | RuntimeException | Error e) {
            // It is closed already; or the driver fails, which must not keep the caller from ending the others.
        }
    }

    private void tell(LossReason reason) {
        for (Hold hold : holds) {
            try {
                hold.lose(reason);
            } catch (RuntimeException | Error e) {
                // Who hears of one hold must not keep the others from being told, and the connection from being closed.
            }
        }
    }
}
