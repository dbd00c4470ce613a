package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * How the pool's connections are when they come. Asked once per store: some drivers ask the server for these.
 *
 * @param readOnly whether they refuse to write
 * @param isolation as {@link Connection#getTransactionIsolation()}
 */
record PoolDefaults(boolean readOnly, int isolation) {

    static PoolDefaults of(Connection connection) throws SQLException {
        return new PoolDefaults(connection.isReadOnly(), connection.getTransactionIsolation());
    }
}
