package dev.latchkey.spring;

import dev.latchkey.LockMode;
import dev.latchkey.jdbc.JdbcStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Guards a transaction on the database that has the locks by its rows: a lock that is lost cannot be committed. */
final class JdbcCommitCheck implements CommitCheck {

    private final JdbcStore store;
    private final DataSource dataSource;
    private volatile @Nullable DatabaseUser ofStore;

    JdbcCommitCheck(JdbcStore store) {
        this.store = store;
        this.dataSource = target(store.dataSource());
    }

    @Override
    public void check(HeldLock held, @Nullable Object transaction) {
        if (held.mode() == LockMode.SHARED || !isGuarded(held, transaction)) {
            held.checkHeld();
        }
    }

    /** Tells whether the transaction is in the database of the lock, which then keeps the lock until it has ended. */
    private boolean isGuarded(HeldLock held, @Nullable Object transaction) {
        for (Map.Entry<Object, Object> resource :
                TransactionSynchronizationManager.getResourceMap().entrySet()) {
            if (resource.getKey() instanceof DataSource bound
                    && isOf(transaction, resource.getValue())
                    && isGuarded(held, bound)) {
                return true;
            }
        }
        return false;
    }

    private boolean isGuarded(HeldLock held, DataSource bound) {
        Connection connection = DataSourceUtils.getConnection(bound);
        try {
            // One in autocommit mode is bound to the thread for the time of a transaction elsewhere, which is to be
            // committed.
            boolean isToBeCommitted = !connection.getAutoCommit() && isSameDatabase(bound, connection);
            if (isToBeCommitted) {
                store.guard(connection, held.key());
            }
            return isToBeCommitted;
        } catch (SQLException e) {
            throw new CannotGetJdbcConnectionException("The connection of the transaction failed", e);
        } finally {
            DataSourceUtils.releaseConnection(connection, bound);
        }
    }

    /** By another wrapper of its pool, or another pool: one of its own for locks is what an application under load has. */
    private boolean isSameDatabase(DataSource bound, Connection connection) throws SQLException {
        return target(bound) == dataSource || DatabaseUser.of(connection).equals(ofStore());
    }

    private DatabaseUser ofStore() throws SQLException {
        DatabaseUser known = ofStore;
        if (known == null) {
            try (Connection connection = dataSource.getConnection()) {
                known = DatabaseUser.of(connection);
                ofStore = known;
            }
        }
        return known;
    }

    /** Another user may not be allowed to write the rows of locks. */
    private record DatabaseUser(
            @Nullable String url, @Nullable String user) {
        static DatabaseUser of(Connection connection) throws SQLException {
            return new DatabaseUser(
                    connection.getMetaData().getURL(), connection.getMetaData().getUserName());
        }

        /** Without the URL, which may contain a password. */
        @Override
        public String toString() {
            return "DatabaseUser[" + user + "]";
        }
    }

    /**
     * The connection may be that of a transaction around the one to be committed. A guard in it would keep renewals and the
     * release waiting until that ends.
     */
    private static boolean isOf(@Nullable Object transaction, Object connection) {
        if (transaction instanceof JdbcTransactionObjectSupport jdbc && jdbc.hasConnectionHolder()) {
            return jdbc.getConnectionHolder() == connection;
        }
        return transaction == null
                || transaction.getClass().getName().startsWith("org.springframework.transaction.jta.");
    }

    static DataSource target(DataSource dataSource) {
        DataSource target = dataSource;
        while (target instanceof DelegatingDataSource wrapper && wrapper.getTargetDataSource() != null) {
            target = wrapper.getTargetDataSource();
        }
        return target;
    }
}
