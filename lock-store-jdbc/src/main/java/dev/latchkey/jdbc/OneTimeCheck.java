package dev.latchkey.jdbc;

import java.sql.SQLException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Lets one thread at a time do what may fail slowly. Its failure is that of all who waited meanwhile: each doing it after the
 * other, the last would be told of a server that does not answer after many times the limit.
 */
final class OneTimeCheck {

    private final ReentrantLock turn = new ReentrantLock();
    private @Nullable Exception lastFailure;
    private long failedNanos;

    /** What may fail slowly. */
    @FunctionalInterface
    interface Look<T> {
        T run() throws SQLException, NoConnectionException;
    }

    <T> T run(Look<T> look) throws SQLException, NoConnectionException {
        long since = System.nanoTime();
        turn.lock();
        try {
            throwIfFailedSince(since);
            return look(look);
        } finally {
            turn.unlock();
        }
    }

    private <T> T look(Look<T> look) throws SQLException, NoConnectionException {
        try {
            return look.run();
        } catch (SQLException | NoConnectionException e) {
            lastFailure = e;
            failedNanos = System.nanoTime();
            throw e;
        }
    }

    private void throwIfFailedSince(long since) throws SQLException, NoConnectionException {
        if (lastFailure == null || failedNanos - since < 0) {
            return;
        }
        if (lastFailure instanceof NoConnectionException e) {
            throw e;
        }
        throw (SQLException) lastFailure;
    }
}
