package dev.latchkey.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;

/** A table, as it stands in a file of the dialect. */
record Schema(Dialect dialect, TableName table, String file) {

    /** Who creates the table. */
    enum Owner {
        /** The store does, when it is first used. */
        STORE,
        /** Somebody else has done it. */
        APPLICATION
    }

    static Schema ofLocks(Dialect dialect, TableName table) {
        return new Schema(dialect, table, dialect.name() + ".sql");
    }

    static Schema ofFences(Dialect dialect, TableName table) {
        return new Schema(dialect, table, dialect.name() + "-fence.sql");
    }

    static Schema ofIndexes(Dialect dialect, TableName table) {
        return new Schema(dialect, table, dialect.name() + "-index.sql");
    }

    /** Creates the table if it is not there. */
    void create(Connection connection) throws SQLException {
        if (isThere(connection)) {
            return;
        }
        try {
            dialect.create(connection, definition());
        } catch (SQLException e) {
            if (!isThereAfter(e, connection)) {
                throw e;
            }
        }
    }

    boolean isThere(Connection connection) throws SQLException {
        return dialect.hasTable(connection, table);
    }

    /** Whether another has created it; on a connection that is broken that cannot be seen. */
    private boolean isThereAfter(SQLException failure, Connection connection) {
        try {
            return isThere(connection);
        } catch (SQLException e) {
            failure.addSuppressed(e);
            return false;
        }
    }

    String definition() {
        try (InputStream in = Objects.requireNonNull(Schema.class.getResourceAsStream(file), file)) {
            return Sql.named(new String(in.readAllBytes(), StandardCharsets.UTF_8), table);
        } catch (IOException e) {
            throw new UncheckedIOException("could not read " + file, e);
        }
    }
}
