package dev.latchkey.jdbc;

import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Refuses the writes of a holder that lost its lock. It stores, for each resource, the greatest fencing token that a
 * transaction has presented, in the same database as the data that the lock protects. Any store with fencing tokens can
 * keep the lock itself. All writers of the resource must use the same guard.
 *
 * <p>{@link #createTable}, or the file of the database in this module, creates the table. Its default name is
 * {@code latchkey_fence}.
 *
 * <p>Thread-safe.
 */
public final class FencingGuard {

    static final String RAISE = """
            UPDATE latchkey_fence SET fencing_token = :fencing_token
            WHERE resource = :resource AND fencing_token <= :fencing_token""";

    private final TableName table;

    /** Creates a guard that uses the table {@code latchkey_fence}. */
    public FencingGuard() {
        this(Sql.FENCE_TABLE);
    }

    /**
     * Creates a guard that uses a table with another name.
     *
     * @param table a letter or {@code _}, then up to 47 more letters, digits or {@code _}
     * @throws IllegalArgumentException if {@code table} is not such a name
     */
    public FencingGuard(String table) {
        this.table = new TableName(Optional.empty(), table);
    }

    /**
     * Creates a guard that uses a table in a schema (MariaDB, MySQL: a database) of this name, wherever a connection looks
     * for tables. Use it if connections may look in different places, as in applications with several tenants: in each place
     * that has a table of its own, a smaller token passes.
     *
     * @param schema a letter or {@code _}, then up to 47 more letters, digits or {@code _}
     * @param table likewise
     * @throws IllegalArgumentException if {@code schema} or {@code table} is not such a name
     */
    public FencingGuard(String schema, String table) {
        this.table = new TableName(Optional.of(schema), table);
    }

    /**
     * Checks that no transaction has presented a greater token, and stores this token when the caller's transaction
     * commits. Transactions that present another token for the same resource wait for the commit. Takes one statement,
     * except the first time. A rollback to an earlier savepoint undoes the check: call it again then.
     *
     * @param connection a connection in a transaction of the caller, to the database with the data
     * @param resource the name of what the lock protects
     * @param fencingToken the fencing token of the caller's exclusive hold
     * @throws LockLostException if a greater token was presented: another key has held the lock since; roll back
     * @throws LockStorageException if the database failed; roll back
     * @throws IllegalArgumentException if the connection is in autocommit mode, in which a write could come too late
     */
    public void check(Connection connection, String resource, long fencingToken) {
        try {
            if (connection.getAutoCommit()) {
                throw new IllegalArgumentException("the connection is in autocommit mode: what is written afterwards"
                        + " would not be part of what was checked");
            }
            if (!passes(connection, ResourceName.of(resource), fencingToken)) {
                throw new LockLostException(
                        resource,
                        "the transaction must be rolled back: a greater fencing token than " + fencingToken
                                + " was seen",
                        LossReason.TAKEN_OVER);
            }
        } catch (SQLException e) {
            throw Failures.failure(resource, e);
        }
    }

    private boolean passes(Connection connection, String name, long fencingToken) throws SQLException {
        Dialect dialect = Dialects.of(connection);
        Map<String, Object> values = Map.of("resource", name, "fencing_token", fencingToken);
        Sql raise = Sql.of(RAISE, dialect, table);
        if (raise.count(connection, values) == 1) {
            return true;
        }
        OptionalLong known = known(connection, dialect, values);
        if (known.isPresent()) {
            // It was committed since the first try, which has locked nothing then.
            boolean isTheSame = known.getAsLong() == fencingToken;
            return (isTheSame && !dialect.countsUnchanged())
                    || (known.getAsLong() <= fencingToken && raise.count(connection, values) == 1);
        }
        Sql insert = Sql.of(dialect.insertFence(), dialect, table);
        return insert.count(connection, values) == 1 || raise.count(connection, values) == 1;
    }

    private OptionalLong known(Connection connection, Dialect dialect, Map<String, ?> values) throws SQLException {
        try (PreparedStatement statement =
                        Sql.of(dialect.readFence(), dialect, table).prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            return row.next() ? OptionalLong.of(row.getLong(1)) : OptionalLong.empty();
        }
    }

    /**
     * Creates the table if it does not exist.
     *
     * @param connection a connection in autocommit mode, to the database with the data
     * @throws LockStorageException if the table could not be created
     * @throws IllegalArgumentException if the connection is in a transaction, which the statement would commit on most
     *     databases; nothing was done
     */
    public void createTable(Connection connection) {
        try {
            if (!connection.getAutoCommit()) {
                throw new IllegalArgumentException("the connection is not in autocommit mode: to create a table would"
                        + " commit what its transaction has done so far");
            }
            Schema.ofFences(Dialects.of(connection), table).create(connection);
        } catch (SQLException e) {
            throw Failures.failure(table.table(), e);
        }
    }
}
