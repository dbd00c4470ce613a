package dev.latchkey.postgres;

import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.util.Set;

/** What the errors of the driver mean. */
final class Failures {

    private static final Set<String> SERVER_ENDS_SESSION = Set.of("57P01", "57P02", "57P03", "57P04", "57P05", "25P04");

    /** No such database, no permission to connect to it. */
    private static final Set<String> DENIED = Set.of("3D000", "42501");

    /** Nobody there, all connections in use, starting; and what we refuse ourselves. */
    private static final Set<String> NOT_CONNECTED = Set.of("08001", "08004", "53300", "57P03", "0A000");

    private Failures() {}

    /** Whether the session, and every lock it carried, is gone. */
    static boolean endsSession(SQLException e) {
        String state = state(e);
        return state.startsWith("08") || SERVER_ENDS_SESSION.contains(state);
    }

    /** Two would have waited for each other: the server let one of them go. */
    static boolean isDeadlock(SQLException e) {
        return state(e).equals("40P01");
    }

    /** A wait that was limited is over. */
    static boolean isLockTimeout(SQLException e) {
        return state(e).equals("55P03");
    }

    /** A setting may not have this value. */
    static boolean isRefusedValue(SQLException e) {
        return state(e).equals("22023");
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
                "PostgreSQL failed (SQLSTATE " + state(cause) + "): " + cause.getMessage(),
                cause,
                failure(state(cause)));
    }

    private static Failure failure(String state) {
        if (state.startsWith("28") || DENIED.contains(state)) {
            return Failure.DENIED;
        }
        return NOT_CONNECTED.contains(state) ? Failure.NOT_SENT : Failure.IN_DOUBT;
    }

    static LockStorageException closed(String resource) {
        return new LockStorageException(resource, "the store was closed", null, Failure.NOT_SENT);
    }

    private static String state(SQLException e) {
        String state = e.getSQLState();
        return state == null ? "" : state;
    }
}
