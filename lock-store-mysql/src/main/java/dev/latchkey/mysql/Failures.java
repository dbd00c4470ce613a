package dev.latchkey.mysql;

import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.util.Set;

/** What the errors of the driver mean. */
final class Failures {

    /** Shutdown, connection killed, session killed, silent for too long. */
    private static final Set<Integer> SERVER_ENDS_SESSION = Set.of(1053, 1927, 3169, 4031);

    /** No permission to use the database, wrong password, no such database, a plugin that does not let the user in. */
    private static final Set<Integer> DENIED = Set.of(1044, 1045, 1049, 1698);

    private Failures() {}

    /** Whether the session, and every lock it carried, is gone. */
    static boolean endsSession(SQLException e) {
        return state(e).startsWith("08") || SERVER_ENDS_SESSION.contains(e.getErrorCode());
    }

    /** Nothing was answered in time: what was asked may be under way still. */
    static boolean isTimeout(SQLException e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof SocketTimeoutException) {
                return true;
            }
        }
        return false;
    }

    static LockStorageException failed(String resource, SQLException cause) {
        return new LockStorageException(
                resource,
                "the server failed (SQLSTATE " + state(cause) + ", error " + cause.getErrorCode() + "): "
                        + cause.getMessage(),
                cause,
                failure(cause));
    }

    private static Failure failure(SQLException e) {
        if (DENIED.contains(e.getErrorCode()) || state(e).startsWith("28")) {
            return Failure.DENIED;
        }
        return e instanceof NotConnectedException ? Failure.NOT_SENT : Failure.IN_DOUBT;
    }

    static LockStorageException closed(String resource) {
        return new LockStorageException(resource, "the store was closed", null, Failure.NOT_SENT);
    }

    private static String state(SQLException e) {
        String state = e.getSQLState();
        return state == null ? "" : state;
    }
}
