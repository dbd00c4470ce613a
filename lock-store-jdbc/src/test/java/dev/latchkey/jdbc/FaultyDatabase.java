package dev.latchkey.jdbc;

import dev.latchkey.testkit.OwnServer;
import dev.latchkey.testkit.ServerAddress;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A database server of a test's own, which things can be done to. */
interface FaultyDatabase extends AutoCloseable {

    OwnServer server();

    default ServerAddress address() {
        return server().address();
    }

    /** The DSN of this server, reached by another way. */
    String dsn(ServerAddress address);

    default String dsn() {
        return dsn(address());
    }

    Connection connect() throws SQLException;

    /** Ends the sessions of all stores, as an administrator does; returns how many there were. */
    int endSessions() throws SQLException;

    /** Lets the next changes of rows of the locks fail, with an error that the server gives if transactions meet. */
    void failNextUpdates(int count) throws SQLException;

    /** How often changes of rows were tried since {@link #failNextUpdates}. */
    long updates() throws SQLException;

    /** Has the server take others for the victim of a deadlock with this transaction. */
    void spareInDeadlocks(Statement transaction) throws SQLException;

    /** The DSN of this server, with a few seconds to answer, also while the store connects and creates its table. */
    String impatientDsn();

    /** How many statements that begin so the server is working at now, or has waiting for a row. */
    long running(String beginning) throws SQLException;

    default void kill() {
        server().kill();
    }

    default void restart() {
        server().restart();
    }

    @Override
    default void close() {
        server().close();
    }

    default void execute(String... statements) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    default long count(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }
}
