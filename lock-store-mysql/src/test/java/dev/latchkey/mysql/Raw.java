package dev.latchkey.mysql;

import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.testkit.TimeLimits;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;

/** What a test does or looks at behind the store's back. */
final class Raw {

    private static final String SESSIONS =
            "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND ";

    private Raw() {}

    static String jdbcUrl(MariaDbServer server) {
        return "jdbc:mariadb://" + server.address() + "/test?user=root&sslMode=disable";
    }

    static Connection connect(MariaDbServer server) throws SQLException {
        return DriverManager.getConnection(jdbcUrl(server));
    }

    static void run(MariaDbServer server, String sql) throws SQLException {
        try (Connection connection = connect(server);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    static String ask(MariaDbServer server, String sql) throws SQLException {
        return rows(server, sql).get(0);
    }

    static List<String> rows(MariaDbServer server, String sql) throws SQLException {
        try (Connection connection = connect(server)) {
            return rows(connection, sql);
        }
    }

    static List<String> rows(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> found = new ArrayList<>();
            while (rows.next()) {
                found.add(String.valueOf(rows.getString(1)));
            }
            return found;
        }
    }

    /** Ends the connection that holds a lock. */
    static void killHolder(MariaDbServer server, String name) throws SQLException {
        run(server, "KILL CONNECTION " + ask(server, "SELECT IS_USED_LOCK('" + name + "')"));
    }

    /** Ends a connection, which is gone when it returns. */
    static void killAndAwait(MariaDbServer server, long id) throws SQLException {
        run(server, "KILL CONNECTION " + id);
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> rows(server, SESSIONS + "id = " + id).isEmpty());
    }

    /** Ends all connections that wait for locks. */
    static void killWaiting(MariaDbServer server, String how) throws SQLException {
        for (String id : rows(server, SESSIONS + "state = 'User lock'")) {
            run(server, "KILL " + how + " " + id);
        }
    }

    static int waiting(MariaDbServer server) throws SQLException {
        return rows(server, SESSIONS + "state = 'User lock'").size();
    }

    static int connections(MariaDbServer server, String user) throws SQLException {
        return rows(server, SESSIONS + "user = '" + user + "'").size();
    }
}
