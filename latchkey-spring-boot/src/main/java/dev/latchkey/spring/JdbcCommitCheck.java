package dev.latchkey.spring;

import dev.latchkey.LockMode;
import dev.latchkey.jdbc.JdbcStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
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

    JdbcCommitCheck(JdbcStore store, DataSource dataSource) {
        this.store = store;
        this.dataSource = target(dataSource);
    }

    @Override
    public void check(HeldLock held, @Nullable Object transaction) {
        Optional<DataSource> inTransaction = inTransaction(transaction);
        if (inTransaction.isEmpty() || held.mode() == LockMode.SHARED) {
            held.checkHeld();
            return;
        }
        Connection connection = DataSourceUtils.getConnection(inTransaction.get());
        try {
            if (connection.getAutoCommit()) {
                // Bound to the thread for the time of a transaction elsewhere, which is the one to be committed.
                held.checkHeld();
            } else {
                store.guard(connection, held.key());
            }
        } catch (SQLException e) {
            throw new CannotGetJdbcConnectionException("The connection of the transaction failed", e);
        } finally {
            DataSourceUtils.releaseConnection(connection, inTransaction.get());
        }
    }

    /** The transaction may be bound to the same database by another wrapper of it. */
    private Optional<DataSource> inTransaction(@Nullable Object transaction) {
        for (Map.Entry<Object, Object> resource :
                TransactionSynchronizationManager.getResourceMap().entrySet()) {
            if (resource.getKey() instanceof DataSource bound
                    && target(bound) == dataSource
                    && isOf(transaction, resource.getValue())) {
                return Optional.of(bound);
            }
        }
        return Optional.empty();
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
