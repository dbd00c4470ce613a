package dev.latchkey.chaos;

import dev.latchkey.chaos.Guarantees.Bound;
import dev.latchkey.chaos.Guarantees.Effect;
import dev.latchkey.chaos.Guarantees.Fencing;
import dev.latchkey.chaos.Guarantees.Order;
import dev.latchkey.chaos.Guarantees.Servers;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The stores of SQL databases that can be tried. */
final class SqlStores {

    private SqlStores() {}

    static StoreUnderTest jdbc() {
        PostgresServer server = PostgresServer.start();
        String held = "SELECT count(*) FROM latchkey_lock WHERE greatest(expires_at, readers_until)"
                + " > extract(epoch FROM clock_timestamp()) * 1000000 AND (token <> '-' OR readers <> '')";
        return new StoreUnderTest(
                Stores.leases(Servers.ONE, Stores.TOLD, ""),
                Stores.allFaults(FaultKind.RESTART),
                Map.of(),
                List.of(server),
                addresses -> PostgresServer.dsn(addresses.get(0)),
                () -> count(server::connect, "rows that are held", held));
    }

    static StoreUnderTest postgresAdvisory() {
        Guarantees promise = new Guarantees(
                Bound.SESSION,
                Fencing.TOKENS,
                Map.of(
                        FaultKind.CUT,
                        Effect.ENDS_HOLDS,
                        FaultKind.REFUSE,
                        Effect.ENDS_HOLDS,
                        FaultKind.RESTART,
                        Effect.ENDS_HOLDS),
                Servers.ONE,
                Stores.TOLD,
                Order.NONE,
                Stores.PATIENCE,
                "a hold ends with its connection, before the holder can know: it is judged until then; "
                        + Stores.TOKENS_GROW);
        Set<FaultKind> faults = Stores.allFaults(FaultKind.RESTART);
        // What it sends does not have the resource in it, but a number.
        faults.remove(FaultKind.LOST_REPLY);
        PostgresServer server = PostgresServer.start();
        return new StoreUnderTest(
                promise,
                faults,
                Map.of(),
                List.of(server),
                addresses -> PostgresServer.dsn(addresses.get(0)).replace("postgresql:", "postgresql+advisory:"),
                () -> count(
                        server::connect,
                        "advisory locks",
                        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"));
    }

    static StoreUnderTest getLock() {
        Guarantees promise = new Guarantees(
                Bound.SESSION,
                Fencing.NONE,
                Map.of(
                        FaultKind.CUT,
                        Effect.ENDS_HOLDS,
                        FaultKind.REFUSE,
                        Effect.ENDS_HOLDS,
                        FaultKind.LOST_REPLY,
                        Effect.ENDS_HOLDS,
                        FaultKind.RESTART,
                        Effect.ENDS_HOLDS),
                Servers.ONE,
                Stores.TOLD,
                Order.NONE,
                Stores.PATIENCE,
                "a hold ends with its connection, before the holder can know: it is judged until then; there are no"
                        + " fencing tokens: writes of holders whose connection is gone are not refused");
        MariaDbServer server = MariaDbServer.start("--plugin-load-add=metadata_lock_info");
        String held = "SELECT count(*) FROM information_schema.metadata_lock_info WHERE lock_type = 'User lock'";
        return new StoreUnderTest(
                promise,
                Stores.allFaults(FaultKind.RESTART),
                Map.of(),
                List.of(server),
                addresses -> "mariadb+getlock://root@" + addresses.get(0) + "/test?sslMode=disable",
                () -> count(
                        () -> DriverManager.getConnection(
                                "jdbc:mariadb://" + server.address() + "/test?user=root&sslMode=disable"),
                        "locks of GET_LOCK",
                        held));
    }

    /** What opens a connection to look for what is left. */
    @FunctionalInterface
    private interface Connecting {
        Connection connect() throws SQLException;
    }

    private static List<String> count(Connecting server, String what, String sql) {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1) == 0 ? List.of() : List.of(row.getLong(1) + " " + what);
        } catch (SQLException e) {
            throw new IllegalStateException("cannot look for what is left in the database", e);
        }
    }
}
