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
        return List.of(Table.alone(Placement.ONE_PROCESSOR, ALL), Table.threads(Placement.ONE_PROCESSOR, ALL));
    }

    @Override
    public Servers start() {
        PostgresServer server = PostgresServer.start();
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute(TABLES);
        } catch (SQLException e) {
            server.close();
            throw new IllegalStateException("the tables of the peers could not be created", e);
        }
        return new Servers(server.jdbcUrl(), software(server), null, server::close);
    }

    static String software(PostgresServer server) {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement();
                ResultSet version = statement.executeQuery("SHOW server_version")) {
            version.next();
            return "PostgreSQL " + version.getString(1) + " without fsync";
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

    private static Contender.Client spring(DataSource pool) {
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
