package dev.latchkey.benchmarks;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/**
 * The PostgreSQL advisory store beside the bare functions through the driver, which mint nothing, and beside the same with
 * what makes a durable fencing token; a connection for each thread, since a session may take its own lock again.
 */
final class PostgresAdvisory implements Contest {

    private static final String NAMES = "names for resources, connections shared by several locks, word of a loss";
    private static final String TAKE_WITH_TOKEN = """
            SELECT CASE WHEN pg_advisory_lock(?)::text IS NOT NULL
                THEN CASE WHEN pg_logical_emit_message(true, 'benchmark', '') IS NOT NULL
                THEN pg_current_xact_id() END END""";

    private static final List<Contender> ALL = List.of(
            Contender.latchkey(dsn -> Ours.exclusive(connect(dsn))),
            Contender.latchkeyShared(dsn -> Ours.shared(connect(dsn))),
            Contender.floor(
                    "pg_advisory_lock",
                    "fencing token, " + NAMES,
                    bare("SELECT pg_advisory_lock(?)", "SELECT pg_advisory_unlock(?)")),
            Contender.floor(
                    "pg_advisory_lock with the same token",
                    NAMES,
                    bare(TAKE_WITH_TOKEN, "SELECT pg_advisory_unlock(?)")),
            Contender.floor(
                            "pg_advisory_lock_shared",
                            NAMES,
                            bare("SELECT pg_advisory_lock_shared(?)", "SELECT pg_advisory_unlock_shared(?)"))
                    .shared());

    @Override
    public String store() {
        return "postgres-advisory";
    }

    @Override
    public List<Contender> contenders() {
        return ALL;
    }

    @Override
    public List<Table> tables() {
        return List.of(Table.alone(Placement.ONE_PROCESSOR, ALL), Table.threads(Placement.ONE_PROCESSOR, ALL));
    }

    @Override
    public Servers start() {
        PostgresServer server = PostgresServer.start(Jdbc.ON_DISK);
        return new Servers(server.dsn(), Jdbc.software(server), null, server::close);
    }

    private static LockFactory connect(String dsn) {
        return LockFactory.connect(dsn.replaceFirst("^postgresql:", "postgresql+advisory:"));
    }

    private static Contender.Opener bare(String takeSql, String giveUpSql) {
        return dsn -> resource -> {
            Connection connection = DriverManager.getConnection(PostgresServer.jdbcUrl(dsn));
            PreparedStatement take = connection.prepareStatement(takeSql);
            PreparedStatement giveUp = connection.prepareStatement(giveUpSql);
            long number = resource.hashCode();
            return new Cycle() {
                @Override
                public void take() throws SQLException {
                    var unused = ask(take, number);
                }

                @Override
                public boolean giveUp() throws SQLException {
                    return ask(giveUp, number).equals("t");
                }
            };
        };
    }

    private static String ask(PreparedStatement statement, long number) throws SQLException {
        statement.setLong(1, number);
        try (ResultSet rows = statement.executeQuery()) {
            rows.next();
            return String.valueOf(rows.getString(1));
        }
    }

    @Override
    public List<String> libraries() {
        return List.of("postgresql");
    }
}
