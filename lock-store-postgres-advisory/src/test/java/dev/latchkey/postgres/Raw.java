package dev.latchkey.postgres;

import dev.latchkey.servers.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.regex.Pattern;

/** What a test does or looks at behind the store's back. */
final class Raw {

    private static final Pattern STATEMENT = Pattern.compile("LOG:  (statement|execute [^:]*): ");
    private static final Pattern TROUBLE = Pattern.compile("(WARNING|ERROR|FATAL|PANIC):  ");

    private Raw() {}

    static void run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    static void run(PostgresServer server, String sql) throws SQLException {
        try (Connection connection = server.connect()) {
            run(connection, sql);
        }
    }

    static String ask(PostgresServer server, String sql) throws SQLException {
        try (Connection connection = server.connect()) {
            return ask(connection, sql);
        }
    }

    static String ask(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return String.valueOf(rows.getString(1));
        }
    }

    /** Ends the server processes that hold advisory locks, or wait for them; they are gone when it returns. */
    static void terminate(PostgresServer server, String which) throws SQLException {
        run(
                server,
                "SELECT pg_terminate_backend(pid, 60000) FROM (SELECT DISTINCT pid FROM pg_locks"
                        + " WHERE locktype = 'advisory' AND " + which + ") AS those");
    }

    static int waiting(PostgresServer server) throws SQLException {
        return Integer.parseInt(
                ask(server, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"));
    }

    static int connections(PostgresServer server) throws SQLException {
        return Integer.parseInt(
                ask(server, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'latchkey'"));
    }

    static List<String> statements(List<String> log) {
        return log.stream().filter(line -> STATEMENT.matcher(line).find()).toList();
    }

    static List<String> trouble(List<String> log) {
        return log.stream().filter(line -> TROUBLE.matcher(line).find()).toList();
    }
}
