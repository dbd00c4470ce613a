package dev.latchkey.jdbc;

import dev.latchkey.LockMode;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The one statement of an exclusive acquire, and the answers it has on the databases. */
record AcquireStatement(Request request) {

    /** Fencing tokens are microseconds since 1970, and larger than any number of milliseconds in a TTL. */
    static final long SMALLEST_TOKEN = 1_000_000_000_000_000L;

    /**
     * What is there after the statement.
     *
     * @param token who holds, if that is known
     * @param remainingMicros until all leases have ended
     * @param readers the column
     */
    private record Seen(Optional<String> token, long fencingToken, long remainingMicros, String readers) {

        boolean isHeldBy(String key) {
            return token.filter(key::equals).isPresent();
        }

        /** A reader's key may ask for more than this statement can give. */
        boolean isSharedBy(String key) {
            return readers.contains(key);
        }
    }

    @Nullable Response on(Connection connection, Statements statements) throws SQLException {
        String token = request.key().token();
        Map<String, Object> values = Map.of(
                "resource", ResourceName.of(request.key().resource()),
                "token", token,
                "holder", HolderText.of(request),
                "ttl", Rules.micros(request.ttl()),
                "reserved", request.reservedTokens());
        Sql acquire = request.isSticky() ? statements.ofSticky().acquire() : statements.acquire();
        long since = System.nanoTime();
        Optional<Seen> seen = switch (statements.dialect().answer()) {
            case ROW -> row(connection, acquire, values);
            case TOKEN -> token(connection, acquire, values);
            case CHANGED_COLUMN -> changedColumn(connection, acquire, values);
            case GENERATED_NUMBER -> generatedNumber(connection, acquire, values);
        };
        if (seen.isEmpty() || seen.get().isSharedBy(token)) {
            return markOrChange(connection, statements);
        }
        return seen.get().isHeldBy(token)
                ? granted(seen.get().fencingToken(), since, request)
                : conflicted(seen.get().remainingMicros());
    }

    /** Nothing was granted, and a read has to tell why. */
    private @Nullable Response markOrChange(Connection connection, Statements statements) throws SQLException {
        Optional<Response> marked = request.retryIntent() == RetryIntent.AGAIN
                ? statements.mark(connection, request.key())
                : Optional.empty();
        return marked.isPresent() ? marked.get() : statements.acquire(connection, request);
    }

    private static Optional<Seen> row(Connection connection, Sql acquire, Map<String, ?> values) throws SQLException {
        try (PreparedStatement prepared = acquire.prepare(connection, values);
                ResultSet row = prepared.executeQuery()) {
            return row.next()
                    ? Optional.of(
                            new Seen(Optional.of(row.getString(1)), row.getLong(2), row.getLong(3), row.getString(4)))
                    : Optional.empty();
        }
    }

    /** SQLite gives the row before it commits, and says only at the end of the rows whether it could. */
    private static Optional<Seen> token(Connection connection, Sql acquire, Map<String, ?> values) throws SQLException {
        try (PreparedStatement prepared = acquire.prepare(connection, values);
                ResultSet rows = prepared.executeQuery()) {
            Optional<Seen> seen = Optional.empty();
            while (rows.next()) {
                seen = Optional.of(taken(rows.getLong(1), values));
            }
            return seen;
        }
    }

    private static Optional<Seen> changedColumn(Connection connection, Sql acquire, Map<String, ?> values)
            throws SQLException {
        try (PreparedStatement prepared = acquire.prepare(connection, values, "FENCING_TOKEN")) {
            if (prepared.executeUpdate() == 0) {
                return Optional.empty();
            }
            try (ResultSet column = prepared.getGeneratedKeys()) {
                column.next();
                return Optional.of(taken(column.getLong(1), values));
            }
        }
    }

    private static Optional<Seen> generatedNumber(Connection connection, Sql acquire, Map<String, ?> values)
            throws SQLException {
        try (PreparedStatement prepared = acquire.prepare(connection, values, Statement.RETURN_GENERATED_KEYS)) {
            prepared.executeUpdate();
            try (ResultSet column = prepared.getGeneratedKeys()) {
                long number = column.next() ? column.getLong(1) : 0;
                if (number >= SMALLEST_TOKEN) {
                    return Optional.of(taken(number, values));
                }
                Seen refused = new Seen(Optional.empty(), 0, number * 1_000, Row.NOBODY);
                return number > 0 ? Optional.of(refused) : Optional.empty();
            }
        }
    }

    private static Seen taken(long fencingToken, Map<String, ?> values) {
        return new Seen(Optional.of(String.valueOf(values.get("token"))), fencingToken, 0, Row.NOBODY);
    }

    private static Response conflicted(long remainingMicros) {
        return new Response.Conflicted(Rules.micros(Math.max(0, remainingMicros)));
    }

    /** What a statement has granted, or renewed, for which no row was read. */
    static Response.Granted granted(long fencingToken, long sinceNanos, Request request) {
        return new Response.Granted(
                LockMode.EXCLUSIVE, OptionalLong.of(fencingToken), Lease.timed(sinceNanos, request.ttl()));
    }
}
