package dev.latchkey.postgres;

import dev.latchkey.LockConflictedException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Locks in a transaction of the caller. */
final class TransactionLocks {

    private TransactionLocks() {}

    static void await(Connection connection, String resource, String sql) {
        try {
            run(connection, resource, sql);
        } catch (SQLException e) {
            if (Failures.isLockTimeout(e) || Failures.isDeadlock(e)) {
                throw new LockConflictedException(resource, "the server ended the wait: " + e.getMessage());
            }
            throw Failures.failed(resource, e);
        }
    }

    static boolean attempt(Connection connection, String resource, String sql) {
        try {
            return run(connection, resource, sql);
        } catch (SQLException e) {
            throw Failures.failed(resource, e);
        }
    }

    private static boolean run(Connection connection, String resource, String sql) throws SQLException {
        if (connection.getAutoCommit()) {
            throw new IllegalStateException(
                    "a lock of a transaction needs one: call setAutoCommit(false) on the connection"
                            + " before, else the lock ends with its own statement");
        }
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, LockId.of(resource).hold());
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() && "t".equals(rows.getString(1));
            }
        }
    }
}
