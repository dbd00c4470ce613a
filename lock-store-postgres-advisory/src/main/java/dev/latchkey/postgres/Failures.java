package dev.latchkey.postgres;

import dev.latchkey.LockStorageException;
import java.sql.SQLException;
import java.util.Set;

/** What the errors of the driver mean. */
final class Failures {

    private static final Set<String> SERVER_ENDS_SESSION = Set.of("57P01", "57P02", "57P03", "57P04", "57P05", "25P04");

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

    static LockStorageException failed(String resource, SQLException cause) {
        return new LockStorageException(
                resource, "PostgreSQL failed (SQLSTATE " + state(cause) + "): " + cause.getMessage(), cause);
    }

    static LockStorageException closed(String resource) {
        return new LockStorageException(resource, "the store was closed", null);
    }

    private static String state(SQLException e) {
        String state = e.getSQLState();
        return state == null ? "" : state;
    }
}
