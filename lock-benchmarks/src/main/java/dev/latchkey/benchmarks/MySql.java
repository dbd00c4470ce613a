package dev.latchkey.benchmarks;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.MariaDbServer;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import net.javacrumbs.shedlock.provider.jdbc.JdbcLockProvider;

/**
 * The store of GET_LOCK on MariaDB beside the bare functions, with a connection for each thread, since a session may take its
 * own lock again; and beside peers that keep rows in the same server, each on a HikariCP pool of its own.
 */
final class MySql implements Contest {

    private static final int CONNECTIONS = 10;

    /** As servers run; those of tests write less often. */
    private static final String ON_DISK = "--innodb-flush-log-at-trx-commit=1";

    private static final List<String> TABLES = List.of("""
            CREATE TABLE shedlock (
                name varchar(64) PRIMARY KEY, lock_until timestamp(3) NOT NULL,
                locked_at timestamp(3) NOT NULL, locked_by varchar(255) NOT NULL)""", """
            CREATE TABLE INT_LOCK (
                LOCK_KEY char(36) NOT NULL, REGION varchar(100) NOT NULL, CLIENT_ID char(36),
                CREATED_DATE datetime(6) NOT NULL, EXPIRED_AFTER datetime(6) NOT NULL,
                PRIMARY KEY (LOCK_KEY, REGION))""");

    private static final List<Contender> ALL = List.of(
            Contender.latchkey(dsn -> Ours.exclusive(connect(dsn))),
            Contender.floor(
                    "GET_LOCK + RELEASE_LOCK",
                    "names of any length and case, connections shared by several locks, word of a loss",
                    MySql::bare),
            Contender.peer(ShedLock.TITLE, ShedLock.WITHOUT, dsn -> ShedLock.cycles(new JdbcLockProvider(pool(dsn)))),
            Contender.peer(
                    "Spring JdbcLockRegistry",
                    "waiting (asks every 100 ms); its client's clock decides",
                    dsn -> Jdbc.spring(pool(dsn))));

    @Override
    public String store() {
        return "mysql";
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
        MariaDbServer server = MariaDbServer.start(ON_DISK);
        try (Connection connection = DriverManager.getConnection(url(server.dsn()));
                Statement statement = connection.createStatement()) {
            for (String table : TABLES) {
                statement.execute(table);
            }
            try (ResultSet version = statement.executeQuery("SELECT VERSION()")) {
                version.next();
                return new Servers(server.dsn(), "MariaDB " + version.getString(1), null, server::close);
            }
        } catch (SQLException e) {
            server.close();
            throw new IllegalStateException("the tables of the peers could not be created", e);
        }
    }

    private static LockFactory connect(String dsn) {
        return LockFactory.connect(dsn.replaceFirst("^mariadb:", "mariadb+getlock:"));
    }

    private static String url(String dsn) {
        URI server = URI.create(dsn);
        return "jdbc:mariadb://" + server.getHost() + ":" + server.getPort() + server.getPath()
                + "?sslMode=disable&user=" + server.getUserInfo();
    }

    private static HikariDataSource pool(String dsn) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url(dsn));
        config.setMaximumPoolSize(CONNECTIONS);
        return new HikariDataSource(config);
    }

    private static Contender.Client bare(String dsn) {
        return resource -> {
            Connection connection = DriverManager.getConnection(url(dsn));
            PreparedStatement take = connection.prepareStatement("SELECT GET_LOCK(?, 3600)");
            PreparedStatement giveUp = connection.prepareStatement("SELECT RELEASE_LOCK(?)");
            String name = "bare " + resource;
            return new Cycle() {
                @Override
                public void take() throws Exception {
                    Cycle.poll(() -> yes(take, name));
                }

                @Override
                public boolean giveUp() throws SQLException {
                    return yes(giveUp, name);
                }
            };
        };
    }

    private static boolean yes(PreparedStatement statement, String name) throws SQLException {
        statement.setString(1, name);
        try (ResultSet rows = statement.executeQuery()) {
            rows.next();
            return rows.getInt(1) == 1;
        }
    }

    @Override
    public List<String> libraries() {
        return List.of("mariadb-java-client", "HikariCP", "shedlock-provider-jdbc", "spring-integration-jdbc");
    }
}
