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
 * Refuses writes of a holder whose time was over: remembers, for each resource, the greatest fencing token a transaction
 * came with, beside the data that the lock protects. The lock itself may be kept anywhere, by any store that has fencing
 * tokens; all who write to the resource have to ask the same guard.
 *
 * <p>Thread-safe. The table, {@code latchkey_fence} unless named, is created by {@link #createTable} or from the file of
 * the database in this module.
 */
public final class FencingGuard {

    static final String RAISE = """
            UPDATE latchkey_fence SET fencing_token = :fencing_token
            WHERE resource = :resource AND fencing_token <= :fencing_token""";

    private final TableName table;

    /** Uses the table {@code latchkey_fence}. */
    public FencingGuard() {
        this(Sql.FENCE_TABLE);
    }

    /**
     * Uses a table of another name.
     *
     * @param table a letter or {@code _}, then up to 47 more letters, digits or {@code _}
     * @throws IllegalArgumentException if it is not such a name
     */
    public FencingGuard(String table) {
        this.table = new TableName(Optional.empty(), table);
    }

    /**
     * Lets the caller's transaction go on if nobody has come with a greater token, and remembers this one when it commits.
     * Whoever comes with another token for the same resource waits for that. One statement, but for the first time.
     *
     * @param connection in a transaction of the caller, on the database with the data
     * @param resource what the lock protects
     * @param fencingToken that of the caller's exclusive hold
     * @throws LockLostException if a greater token was seen: another has held the lock since; roll back then
     * @throws LockStorageException if the database failed; roll back then
     * @throws IllegalArgumentException if the connection is in autocommit mode, where a write could come too late
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
     * Creates the table if it is not there.
     *
     * @param connection in autocommit mode, on the database with the data
     * @throws LockStorageException if that failed
     * @throws IllegalArgumentException if the connection is in a transaction, which the statement would commit on most
     *     databases; nothing was done then
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
