package dev.latchkey.spring;

import dev.latchkey.LockMode;
import dev.latchkey.jdbc.JdbcStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
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
    public void check(HeldLock held) {
        Optional<DataSource> inTransaction = inTransaction();
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
    private Optional<DataSource> inTransaction() {
        for (Object resource :
                TransactionSynchronizationManager.getResourceMap().keySet()) {
            if (resource instanceof DataSource bound && target(bound) == dataSource) {
                return Optional.of(bound);
            }
        }
        return Optional.empty();
    }

    static DataSource target(DataSource dataSource) {
        DataSource target = dataSource;
        while (target instanceof DelegatingDataSource wrapper && wrapper.getTargetDataSource() != null) {
            target = wrapper.getTargetDataSource();
        }
        return target;
    }
}
