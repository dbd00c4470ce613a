package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Optional;

/** The one statement of an exclusive acquire, and the answers it has on the databases. */
record AcquireStatement(Sql statement, Dialect.Answer answer) {

    /** Fencing tokens are microseconds since 1970, and larger than any number of milliseconds in a TTL. */
    static final long SMALLEST_TOKEN = 1_000_000_000_000_000L;

    /**
     * What is there after the statement.
     *
     * @param token who holds, if that is known
     * @param remainingMicros until all leases have ended
     * @param readers the column
     */
    record Seen(Optional<String> token, long fencingToken, long remainingMicros, String readers) {

        boolean isHeldBy(String key) {
            return token.filter(key::equals).isPresent();
        }

        /** A reader's key may ask for more than this statement can give. */
        boolean isSharedBy(String key) {
            return readers.contains(key);
        }
    }

    /** Runs it. Empty: nothing was granted, and a read has to tell why. */
    Optional<Seen> run(Connection connection, Map<String, ?> values) throws SQLException {
        return switch (answer) {
            case ROW -> row(connection, values);
            case TOKEN -> token(connection, values);
            case CHANGED_COLUMN -> changedColumn(connection, values);
            case GENERATED_NUMBER -> generatedNumber(connection, values);
        };
    }

    private Optional<Seen> row(Connection connection, Map<String, ?> values) throws SQLException {
        try (PreparedStatement prepared = statement.prepare(connection, values);
                ResultSet row = prepared.executeQuery()) {
            return row.next()
                    ? Optional.of(
                            new Seen(Optional.of(row.getString(1)), row.getLong(2), row.getLong(3), row.getString(4)))
                    : Optional.empty();
        }
    }

    /** SQLite gives the row before it commits, and says only at the end of the rows whether it could. */
    private Optional<Seen> token(Connection connection, Map<String, ?> values) throws SQLException {
        try (PreparedStatement prepared = statement.prepare(connection, values);
                ResultSet rows = prepared.executeQuery()) {
            Optional<Seen> seen = Optional.empty();
            while (rows.next()) {
                seen = Optional.of(granted(rows.getLong(1), values));
            }
            return seen;
        }
    }

    private Optional<Seen> changedColumn(Connection connection, Map<String, ?> values) throws SQLException {
        try (PreparedStatement prepared = statement.prepare(connection, values, "FENCING_TOKEN")) {
            if (prepared.executeUpdate() == 0) {
                return Optional.empty();
            }
            try (ResultSet column = prepared.getGeneratedKeys()) {
                column.next();
                return Optional.of(granted(column.getLong(1), values));
            }
        }
    }

    private Optional<Seen> generatedNumber(Connection connection, Map<String, ?> values) throws SQLException {
        try (PreparedStatement prepared = statement.prepare(connection, values, Statement.RETURN_GENERATED_KEYS)) {
            prepared.executeUpdate();
            try (ResultSet column = prepared.getGeneratedKeys()) {
                long number = column.next() ? column.getLong(1) : 0;
                if (number >= SMALLEST_TOKEN) {
                    return Optional.of(granted(number, values));
                }
                Seen refused = new Seen(Optional.empty(), 0, number * 1_000, Row.NOBODY);
                return number > 0 ? Optional.of(refused) : Optional.empty();
            }
        }
    }

    private static Seen granted(long fencingToken, Map<String, ?> values) {
        return new Seen(Optional.of(String.valueOf(values.get("token"))), fencingToken, 0, Row.NOBODY);
    }
}
