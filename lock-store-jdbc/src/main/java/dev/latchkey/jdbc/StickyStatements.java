package dev.latchkey.jdbc;

import dev.latchkey.LockMode;
import dev.latchkey.spi.KeptHolds;
import dev.latchkey.spi.Request;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The statements of sticky holds over one table, and the messages about these. */
final class StickyStatements {

    private static final String RECALL = "~";
    private static final String FORCED = "!";
    private static final Pattern END = Pattern.compile(FORCED + "(\\d{1,18}) (.+)");

    private final TableName table;
    private final Sql acquire;
    private final Sql renew;
    private final Sql release;
    private final Sql read;
    private final Sql announce;

    StickyStatements(StickyDialect sticky, Dialect dialect, TableName table, String release) {
        this.table = table;
        this.acquire = Sql.of(sticky.acquire(), dialect, table);
        this.renew = Sql.of(sticky.renew(), dialect, table);
        this.release = Sql.of(sticky.release(release), dialect, table);
        this.read = Sql.of(sticky.read(), dialect, table);
        this.announce = Sql.of(sticky.announce(), dialect, table);
    }

    Sql acquire() {
        return acquire;
    }

    Sql renew() {
        return renew;
    }

    boolean release(Connection connection, String resource, String token, long fencingToken) throws SQLException {
        Map<String, Object> values =
                Map.of("resource", resource, "token", token, "fencing_token", fencingToken, "channel", table.channel());
        return release.count(connection, values) == 1;
    }

    PreparedStatement read(Connection connection, Request request) throws SQLException {
        Map<String, Object> values = Map.of(
                "resource", ResourceName.of(request.key().resource()),
                "token", request.key().token(),
                "exclusive", request.mode() == LockMode.EXCLUSIVE ? 1L : 0L,
                "channel", table.channel());
        return read.prepare(connection, values);
    }

    /** Recalls the sticky holds of a resource. */
    void recall(Connection connection, String resource) throws SQLException {
        announce(connection, RECALL + resource);
    }

    /** Tells the holder of a sticky hold that it was ended by force. */
    void forced(Connection connection, String resource, long fencingToken) throws SQLException {
        announce(connection, FORCED + fencingToken + " " + resource);
    }

    private void announce(Connection connection, String message) throws SQLException {
        try (PreparedStatement prepared =
                announce.prepare(connection, Map.of("message", message, "channel", table.channel()))) {
            boolean unused = prepared.execute();
        }
    }

    /** Handles a message, if it is about the recall of sticky holds. No name of a resource in the table begins like one. */
    static boolean hear(String message, KeptHolds kept) {
        boolean isRecall = message.startsWith(RECALL);
        if (isRecall) {
            kept.recall(message.substring(RECALL.length()));
        }
        return isRecall;
    }

    /** What a message says that has ended by force. */
    record ForcedEnd(String resource, long fencingToken) {}

    /** What a message says that has ended by force; empty if it is about something else. */
    static Optional<ForcedEnd> forcedEnd(String message) {
        Matcher end = END.matcher(message);
        return end.matches()
                ? Optional.of(new ForcedEnd(end.group(2), Long.parseLong(end.group(1))))
                : Optional.empty();
    }
}
