package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** What PostgreSQL announces on a channel. Apart, since it cannot be loaded without the driver. */
final class PostgresNotifications implements AutoCloseable {

    /** How long the driver waits for bytes before it looks whether it is still wanted: no statement is sent for it. */
    private static final int LOOK_MILLIS = 250;

    /** How long the connection may say nothing before it is tried, by a round trip that is no statement. */
    private static final long QUIET_NANOS = Duration.ofSeconds(3).toNanos();

    private static final int ANSWER_MILLIS = 3_000;

    private final Connection connection;
    private final PGConnection postgresql;
    private final String channel;
    private final boolean autoCommit;
    private final boolean isOfOwnSession;
    private long heardNanos = System.nanoTime();

    PostgresNotifications(Connection connection, String channel) throws SQLException {
        this.connection = connection;
        this.channel = channel;
        try {
            this.postgresql = connection.unwrap(PGConnection.class);
            this.autoCommit = connection.getAutoCommit();
            if (!autoCommit) {
                connection.rollback();
            }
            connection.setAutoCommit(true);
            this.isOfOwnSession = PostgresSession.isOwn(connection);
            execute("LISTEN \"" + channel + "\"");
        } catch (SQLException e) {
            connection.close();
            throw e;
        } catch (RuntimeException | Error e) {
            Connections.abort(connection);
            throw e;
        }
    }

    /** What it listens on, for statements between two waits. */
    Connection connection() {
        return connection;
    }

    /** Whether the server's session is this connection's own, so that all that it is notified of arrives here. */
    boolean isOfOwnSession() {
        return isOfOwnSession;
    }

    /** Waits a while for resources that came free. */
    List<String> await() throws SQLException {
        try {
            return hear();
        } catch (RuntimeException | Error e) {
            Connections.abort(connection);
            throw e;
        }
    }

    private List<String> hear() throws SQLException {
        PGNotification[] heard = postgresql.getNotifications(LOOK_MILLIS);
        if (heard != null && heard.length > 0) {
            heardNanos = System.nanoTime();
        } else if (System.nanoTime() - heardNanos > QUIET_NANOS) {
            roundTrip();
            heardNanos = System.nanoTime();
        }
        return heard == null
                ? List.of()
                : Stream.of(heard).map(PGNotification::getParameter).toList();
    }

    /** Prepared, an empty statement is none to the server: it is neither run nor logged. */
    private void roundTrip() throws SQLException {
        int before = connection.getNetworkTimeout();
        connection.setNetworkTimeout(Runnable::run, ANSWER_MILLIS);
        try (PreparedStatement nothing = connection.prepareStatement("")) {
            nothing.execute();
        }
        connection.setNetworkTimeout(Runnable::run, before);
    }

    private void execute(String statement) throws SQLException {
        try (Statement run = connection.createStatement()) {
            run.execute(statement);
        }
    }

    /** Gives the connection back as it came. */
    @Override
    public void close() throws SQLException {
        try (connection) {
            execute("UNLISTEN \"" + channel + "\"");
            connection.setAutoCommit(autoCommit);
        }
    }
}
