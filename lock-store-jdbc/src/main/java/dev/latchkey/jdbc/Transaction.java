package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/** Several statements that are all done or none. */
final class Transaction {

    /** The statements; false: not as they should have been, undo them. */
    @FunctionalInterface
    interface Work {
        boolean run() throws SQLException;
    }

    private Transaction() {}

    /** Runs on a connection in autocommit mode, and leaves it so. */
    static boolean run(Connection connection, Work work) throws SQLException {
        connection.setAutoCommit(false);
        boolean isDone;
        try {
            isDone = work.run();
            if (isDone) {
                connection.commit();
            }
        } catch (SQLException | RuntimeException e) {
            undo(connection, e);
            throw e;
        }
        if (!isDone) {
            // Before autocommit is switched on again, which would commit.
            connection.rollback();
        }
        connection.setAutoCommit(true);
        return isDone;
    }

    /** A connection that is broken cannot be rolled back, and what that says must not hide how it broke. */
    private static void undo(Connection connection, Exception failure) {
        try {
            connection.rollback();
            connection.setAutoCommit(true);
        } catch (SQLException e) {
            failure.addSuppressed(e);
        }
    }
}
