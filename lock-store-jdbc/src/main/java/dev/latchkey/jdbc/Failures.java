package dev.latchkey.jdbc;

import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import java.net.SocketTimeoutException;
import java.sql.SQLException;

/** What errors of a database mean, and how the caller is told. */
final class Failures {

    private Failures() {}

    /** The connection was gone, or is: the server was stopped, or its administrator ended the session. */
    static boolean isBroken(SQLException e) {
        String state = String.valueOf(e.getSQLState());
        return state.startsWith("08") || state.startsWith("57P0");
    }

    /** The server may be at it still, as it is when the statement waits for a row: a second one would only wait as well. */
    static boolean isSilent(SQLException e) {
        for (Throwable one = e; one != null; one = one.getCause()) {
            if (one instanceof SocketTimeoutException) {
                return true;
            }
        }
        return false;
    }

    static LockStorageException missing(String resource, TableName table, SQLException e) {
        return new LockStorageException(
                resource,
                "the table " + table.qualified() + " is missing, or that of its state indexes: " + e.getMessage()
                        + ". Create it as the database's .sql file in this module's jar says, or leave it to the store,"
                        + " without existingTable()",
                e);
    }

    static LockStorageException failure(String resource, SQLException e) {
        return new LockStorageException(
                resource,
                "the database failed (SQLSTATE " + e.getSQLState() + "): " + e.getMessage(),
                e,
                AccessDenial.isIn(e) ? Failure.DENIED : Failure.IN_DOUBT);
    }

    static LockStorageException unchecked(String resource, RuntimeException e) {
        return new LockStorageException(resource, "the driver or the pool failed: " + e, e);
    }

    static LockStorageException failure(String resource, String problem) {
        return new LockStorageException(resource, problem, null);
    }
}
