package dev.latchkey.benchmarks;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.LockFactory;
import dev.latchkey.jdbc.JdbcStore;
import dev.latchkey.servers.PostgresServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import net.javacrumbs.shedlock.provider.jdbc.JdbcLockProvider;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** The JDBC store on PostgreSQL beside its peers and the least that locks there, each on a HikariCP pool of its own. */
final class Jdbc implements Contest {

    private static final int CONNECTIONS = 10;
    private static final String WITHOUT_FSYNC = "without-fsync";

    /** Once a minute, as servers run, would be in one turn of many: how many dead rows a cycle finds would depend on the turn. */
    private static final String VACUUMS_OFTEN = "autovacuum_naptime=1s";

    /** Waits for the disk as servers do that are in use; those of tests do without. */
    static final String[] ON_DISK = {"fsync=on", "full_page_writes=on", VACUUMS_OFTEN};

    private static final String TABLES = """
            CREATE TABLE bare_lock (
                resource varchar(64) PRIMARY KEY, token varchar(64) NOT NULL, expires_at timestamptz NOT NULL);
            CREATE TABLE shedlock (
                name varchar(64) PRIMARY KEY, lock_until timestamp NOT NULL,
                locked_at timestamp NOT NULL, locked_by varchar(255) NOT NULL);
            CREATE TABLE int_lock (
                lock_key char(36) NOT NULL, region varchar(100) NOT NULL, client_id char(36),
                created_date timestamp NOT NULL, expired_after timestamp NOT NULL, PRIMARY KEY (lock_key, region))""";

    private static final String TAKE = """
            INSERT INTO bare_lock AS held VALUES (?, ?, now() + interval '30 s')
            ON CONFLICT (resource) DO UPDATE SET token = excluded.token, expires_at = excluded.expires_at
            WHERE held.expires_at <= now()""";

    private static final String GIVE_UP = "DELETE FROM bare_lock WHERE resource = ? AND token = ?";

    private static final List<Contender> ALL = List.of(
            Contender.latchkey(url -> Ours.exclusive(new LockFactory(new JdbcStore(pool(url))))),
            Contender.latchkey("sticky", url -> Ours.sticky(new LockFactory(new JdbcStore(pool(url))))),
            Contender.latchkeyShared(url -> Ours.shared(new LockFactory(new JdbcStore(pool(url))))),
            Contender.floor(
                    "upsert + delete", "waiting (asks every 5 ms), fencing token, sharing", url -> bare(pool(url))),
            Contender.peer(ShedLock.TITLE, ShedLock.WITHOUT, url -> ShedLock.cycles(new JdbcLockProvider(pool(url)))),
            Contender.peer(
                    "Spring JdbcLockRegistry",
                    "waiting (asks every 100 ms), fencing token; its client's clock decides",
                    url -> spring(pool(url))));

    @Override
    public String store() {
        return "jdbc";
    }

    @Override
    public List<Contender> contenders() {
        return ALL;
    }

    @Override
    public List<Table> tables() {
        Table alone = Table.alone(Placement.ONE_PROCESSOR, ALL);
        Table threads = Table.threads(Placement.ONE_PROCESSOR, ALL);
        return List.of(
                alone,
                threads,
                alone.named("uncontended-" + WITHOUT_FSYNC).titled(", without fsync"),
                threads.named("threads-" + WITHOUT_FSYNC).titled(", without fsync"));
    }

    @Override
    public Servers start(Table table) {
        return start(
                table.name().endsWith(WITHOUT_FSYNC)
                        ? PostgresServer.start(VACUUMS_OFTEN)
                        : PostgresServer.start(ON_DISK));
    }

    @Override
    public Servers start() {
        return start(PostgresServer.start(ON_DISK));
    }

    private static Servers start(PostgresServer server) {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute(TABLES);
        } catch (SQLException e) {
            server.close();
            throw new IllegalStateException("the tables of the peers could not be created", e);
        }
        return new Servers(server.jdbcUrl(), software(server), null, server::close);
    }

    static String software(PostgresServer postgres) {
        try (Connection connection = postgres.connect();
                Statement statement = connection.createStatement();
                ResultSet server =
                        statement.executeQuery("SELECT current_setting('server_version'), current_setting('fsync')")) {
            server.next();
            return "PostgreSQL " + server.getString(1) + ", fsync " + server.getString(2);
        } catch (SQLException e) {
            throw new IllegalStateException("the server does not tell its version", e);
        }
    }

    private static HikariDataSource pool(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(CONNECTIONS);
        return new HikariDataSource(config);
    }

    private static Contender.Client bare(DataSource pool) {
        return resource -> new Cycle() {
            private String token = "";

            @Override
            public void take() throws Exception {
                token = UUID.randomUUID().toString();
                Cycle.poll(() -> changed(pool, TAKE, resource, token) == 1);
            }

            @Override
            public boolean giveUp() throws SQLException {
                return changed(pool, GIVE_UP, resource, token) == 1;
            }
        };
    }

    private static int changed(DataSource pool, String sql, String resource, String token) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, resource);
            statement.setString(2, token);
            return statement.executeUpdate();
        }
    }

    static Contender.Client spring(DataSource pool) {
        DefaultLockRepository repository = new DefaultLockRepository(pool);
        repository.setTransactionManager(new JdbcTransactionManager(pool));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        JdbcLockRegistry registry = new JdbcLockRegistry(repository, Ours.TTL);
        return resource -> Cycle.of(registry.obtain(resource));
    }

    @Override
    public List<String> libraries() {
        return List.of("postgresql", "HikariCP", "shedlock-provider-jdbc", "spring-integration-jdbc");
    }
}
