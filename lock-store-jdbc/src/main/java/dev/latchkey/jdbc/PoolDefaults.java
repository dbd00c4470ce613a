package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.OptionalInt;

/**
 * How the pool's connections are when they come. Asked once per store: some drivers ask the server for these.
 *
 * @param readOnly whether they refuse to write
 * @param changedIsolation as {@link Connection#getTransactionIsolation()}, if the store uses another one; empty if it
 *     uses this one
 */
record PoolDefaults(boolean readOnly, OptionalInt changedIsolation) {

    static PoolDefaults of(Connection connection, Dialect dialect) throws SQLException {
        int isolation = connection.getTransactionIsolation();
        boolean isChanged = !dialect.suits(isolation) && dialect.keepsSettings(connection);
        return new PoolDefaults(connection.isReadOnly(), isChanged ? OptionalInt.of(isolation) : OptionalInt.empty());
    }
}
