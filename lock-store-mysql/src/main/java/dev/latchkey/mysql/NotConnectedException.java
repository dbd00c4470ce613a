package dev.latchkey.mysql;

import java.sql.SQLException;

/** There is no session to ask on: nothing was sent that could have an effect. */
final class NotConnectedException extends SQLException {

    private static final long serialVersionUID = 1;

    NotConnectedException(SQLException cause) {
        super(cause.getMessage(), cause.getSQLState(), cause.getErrorCode(), cause);
    }
}
