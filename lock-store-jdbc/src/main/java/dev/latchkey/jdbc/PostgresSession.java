package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.postgresql.PGConnection;

/** The server's side of a connection. Apart, since it cannot be loaded without the driver. */
final class PostgresSession {

    private PostgresSession() {}

    /**
     * A pooler between client and server tells the client a process number that is not that of a server process. A connection
     * that hides the driver's does not tell it, and may lead through a pooler.
     */
    static boolean isOwn(Connection connection) throws SQLException {
        if (!connection.isWrapperFor(PGConnection.class)) {
            return false;
        }
        int told = connection.unwrap(PGConnection.class).getBackendPID();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
            return row.next() && row.getInt(1) == told;
        }
    }
}
