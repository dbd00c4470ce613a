package dev.latchkey.jdbc;

import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The pool gave no connection: by this request nothing was sent. */
final class NoConnectionException extends Exception {

    private static final long serialVersionUID = 1L;

    NoConnectionException(Exception cause) {
        super(words(cause), cause);
    }

    /** The server's own words where it has said something, those of the pool where it has waited in vain. */
    private static String words(Exception e) {
        SQLException root = root(e);
        if (root == null || isOfThePool(root)) {
            return "no connection to the database: " + e.getMessage() + ". If its pool is shared with transactions that"
                    + " take locks, it may be exhausted by them: give the store a pool of its own, with a connection for"
                    + " each thread that takes locks and, on PostgreSQL, one to listen on";
        }
        String said = "no connection to the database: " + root.getMessage() + hint(root);
        boolean waited = e instanceof SQLException && e != root;
        return waited ? said + " (" + e.getMessage() + ")" : said;
    }

    private static boolean isOfThePool(SQLException e) {
        return e.getSQLState() == null && e.getErrorCode() == 0;
    }

    /** MariaDB's driver wants TLS unless told otherwise, and does not say how. */
    private static String hint(SQLException e) {
        String said = String.valueOf(e.getMessage());
        return said.contains("ssl not enabled") || said.contains("not support SSL")
                ? ". The driver wants TLS and the server has none: enable it there, or add ?sslMode=disable"
                : "";
    }

    private static @Nullable SQLException root(Throwable e) {
        SQLException found = null;
        for (Throwable one = e; one != null; one = one.getCause()) {
            if (one instanceof SQLException sql) {
                found = sql;
            }
        }
        return found;
    }

    LockStorageException failure(String resource, Failure otherwise) {
        Failure failure = AccessDenial.isIn(this) && otherwise == Failure.NOT_SENT ? Failure.DENIED : otherwise;
        return new LockStorageException(resource, String.valueOf(getMessage()), getCause(), failure);
    }
}
