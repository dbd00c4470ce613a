package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A connection for one call: autocommit, read and write, whatever the pool's are; given back as it came. */
final class OwnConnection implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(JdbcStore.class);

    private final Connection connection;
    private final PoolDefaults defaults;
    private final boolean autoCommit;

    OwnConnection(Connection connection, PoolDefaults defaults) throws SQLException {
        this.connection = connection;
        this.defaults = defaults;
        try {
            this.autoCommit = connection.getAutoCommit();
            prepare();
        } catch (SQLException e) {
            connection.close();
            throw e;
        } catch (RuntimeException | Error e) {
            Connections.abort(connection);
            throw e;
        }
    }

    Connection get() {
        return connection;
    }

    private void prepare() throws SQLException {
        if (!autoCommit) {
            // What the pool ran in a new connection has begun a transaction, in which none of this can be set.
            connection.rollback();
        }
        if (defaults.readOnly()) {
            connection.setReadOnly(false);
        }
        if (defaults.changedIsolation().isPresent()) {
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        }
        if (!autoCommit) {
            connection.setAutoCommit(true);
        }
    }

    @Override
    public void close() {
        try (connection) {
            boolean unused = Connections.use(connection, this::restore);
        } catch (SQLException e) {
            // What was asked for is done: a connection that cannot be given back in order does not undo it.
            log.warn("lock.connection_not_restored sqlState={}", e.getSQLState());
        }
    }

    private boolean restore(Connection own) throws SQLException {
        if (!autoCommit) {
            own.setAutoCommit(false);
        }
        if (defaults.changedIsolation().isPresent()) {
            own.setTransactionIsolation(defaults.changedIsolation().getAsInt());
        }
        if (defaults.readOnly()) {
            own.setReadOnly(true);
        }
        return true;
    }
}
