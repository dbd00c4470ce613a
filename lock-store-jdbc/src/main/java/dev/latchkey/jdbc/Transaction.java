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
        boolean isDone = false;
        try {
            isDone = work.run();
            if (isDone) {
                connection.commit();
            }
            return isDone;
        } catch (SQLException | RuntimeException e) {
            isDone = false;
            throw e;
        } finally {
            // Before autocommit is switched on again, which would commit.
            if (!isDone) {
                connection.rollback();
            }
            connection.setAutoCommit(true);
        }
    }
}
