package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What differs between databases: whole statements over a table called {@code latchkey_lock}, each on one row, so that
 * each is atomic by itself; and how the database says what went wrong. Every statement that looks at the clock looks at
 * the database's, as microseconds since 1970 that no time zone has a part in.
 */
interface Dialect {

    /** How {@link #acquire} answers. */
    enum Answer {
        /** A row of {@code token, fencing_token, remaining, readers}: what is there now. No row: not known. */
        ROW,
        /** A row of {@code fencing_token} if it is held now. No row: nothing more is known. */
        TOKEN,
        /** The column {@code fencing_token} of the row that was changed, if any. */
        CHANGED_COLUMN,
        /**
         * A number in place of a generated key: at least {@value AcquireStatement#SMALLEST_TOKEN}, the fencing token; else the
         * milliseconds until the lease ends; 0, not known.
         */
        GENERATED_NUMBER
    }

    /** Names the file with the table, and the database in messages. */
    String name();

    /** Writes a statement, its own or one for all databases, as this one takes it. */
    default String adapt(String statement) {
        return statement;
    }

    /**
     * Takes the exclusive hold if nobody else has a live one, or renews it if the key has it, all in one statement. The
     * fencing token is the greater of the last plus one and the clock.
     */
    String acquire();

    Answer answer();

    /** Whether the driver clears the flag of a thread that is interrupted in a call, and goes on. */
    default boolean forgetsInterrupts() {
        return false;
    }

    /** Reads the row and the clock; the row's columns are null where there is none. */
    String read();

    /** Starts the TTL of a live exclusive hold again. */
    String renew();

    /** Writes a row where there is none; no row is written, or the error is a transient one, where there is one by now. */
    default String insert() {
        return """
                INSERT INTO latchkey_lock
                    (resource, token, holder, acquired_at, expires_at, fencing_token,
                     readers, readers_until, promoter, promoter_until, waited, version)
                VALUES (:resource, :token, :holder, :acquired_at, :expires_at, :fencing_token,
                        :readers, :readers_until, :promoter, :promoter_until, :waited, :version)""";
    }

    /** Locks the row of a live exclusive hold until the end of the transaction it runs in. */
    String guard();

    /** Writes a row if nobody else has since it was read. */
    default String change() {
        return """
                UPDATE latchkey_lock
                SET token = :token, holder = :holder, acquired_at = :acquired_at, expires_at = :expires_at,
                    fencing_token = :fencing_token, readers = :readers, readers_until = :readers_until,
                    promoter = :promoter, promoter_until = :promoter_until, waited = :waited, version = version + 1
                WHERE resource = :resource AND version = :version""";
    }

    /** What names are compared and sorted by when rows are listed. */
    default String ordered(String name) {
        return name;
    }

    /**
     * Gives up the exclusive hold, live or not. The row stays, for its fencing token. A server that crashes may forget this if
     * it is sure to remember it with any later hold.
     */
    default String release() {
        return durableRelease();
    }

    /** As {@link #release}, and is remembered once it is answered. */
    default String durableRelease() {
        return """
                UPDATE latchkey_lock
                SET token = '-', holder = '-', expires_at = 0, version = version + 1
                WHERE resource = :resource AND token = :token""";
    }

    /**
     * Marks the row of a live exclusive hold of another key as waited for, and recalls it if it is sticky. Answers how many
     * microseconds are left of it, when it was first recalled, or 0, and the clock. However often the row changes meanwhile, this
     * finds it. Empty where no release is announced.
     */
    default Optional<String> mark() {
        return Optional.empty();
    }

    /**
     * Keeps others from changing the row until the end of the transaction, for a change that was overtaken between its read and its
     * write. Empty where that happens too rarely to matter.
     */
    default Optional<String> lockRow() {
        return Optional.empty();
    }

    /** The statements of sticky holds; empty where nobody can be told of their recall. */
    default Optional<StickyDialect> sticky() {
        return Optional.empty();
    }

    /**
     * Gives the exclusive hold to another token, with the next fencing token, if nobody has marked the row as waited for.
     * Empty where no release is announced: who waits elsewhere would find no gap to ask in.
     */
    default Optional<String> handOff() {
        return Optional.empty();
    }

    /** Reads the last fencing token of a resource as it is now, whatever the caller's transaction saw when it began. */
    default String readFence() {
        return "SELECT fencing_token FROM latchkey_fence WHERE resource = :resource";
    }

    /**
     * Tells whether an update is counted that leaves a row as it was, always and with every driver. Where it is not,
     * {@link #readFence} locks the row.
     */
    default boolean countsUnchanged() {
        return true;
    }

    /** Records the first fencing token of a resource, in a transaction of the caller. */
    default String insertFence() {
        return "INSERT INTO latchkey_fence (resource, fencing_token) VALUES (:resource, :fencing_token)";
    }

    /** Tells whether the statement did nothing, and may succeed if it is tried again: after 40003, it may have been executed. */
    default boolean isTransient(SQLException e) {
        String state = String.valueOf(e.getSQLState());
        return (state.startsWith("40") && !state.equals("40003")) || state.equals("23505");
    }

    default boolean isMissingTable(SQLException e) {
        return "42S02".equals(e.getSQLState());
    }

    /** Says what makes it several servers that all write, each with a clock of its own. */
    default Optional<String> severalClocks(Connection connection) throws SQLException {
        return Optional.empty();
    }

    /** Tells whether single statements at this isolation see what others have committed, and fail for no other reason. */
    default boolean suits(int isolation) {
        return isolation != Connection.TRANSACTION_SERIALIZABLE;
    }

    /** Tells whether what is set on a connection is set for its next statements, and for nobody else's. */
    default boolean keepsSettings(Connection connection) throws SQLException {
        return true;
    }

    /** Asks a statement, where names are looked up by more rules than the connection's schema. */
    default boolean finds(Connection connection, TableName name) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            boolean unused = statement.execute(Sql.named("SELECT 1 FROM latchkey_lock WHERE 1 = 0", name));
            return true;
        } catch (SQLException e) {
            if (isMissingTable(e)) {
                return false;
            }
            throw e;
        }
    }

    /** Some databases keep names in capitals, and in the pattern of a name an underscore is any letter. */
    default boolean hasTable(Connection connection, TableName name) throws SQLException {
        DatabaseMetaData metaData = connection.getMetaData();
        String schema = name.schema().orElse(connection.getSchema());
        for (String table : List.of(name.table(), name.table().toUpperCase(Locale.ROOT))) {
            try (ResultSet tables = metaData.getTables(connection.getCatalog(), null, table, null)) {
                while (tables.next()) {
                    if (name.table().equalsIgnoreCase(tables.getString("TABLE_NAME"))
                            && (schema == null || schema.equalsIgnoreCase(tables.getString("TABLE_SCHEM")))) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /**
     * Tells in which schema or database this connection finds a table, quoted as in a statement. Empty: there is no such
     * table, or each connection looks for itself.
     */
    default Optional<String> place(Connection connection, TableName name) throws SQLException {
        return Optional.empty();
    }

    /** Creates the table if it is not there, whoever else does the same at this moment. */
    default void create(Connection connection, String definition) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(definition);
        }
    }
}
