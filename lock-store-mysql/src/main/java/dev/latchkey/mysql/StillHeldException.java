package dev.latchkey.mysql;

import java.sql.SQLException;

/** The answer to an acquire was lost, and the server still holds the lock for the connection that is gone: nobody's. */
final class StillHeldException extends SQLException {

    private static final long serialVersionUID = 1;

    StillHeldException(SQLException failure) {
        super(failure.getMessage(), failure.getSQLState(), failure);
    }
}
