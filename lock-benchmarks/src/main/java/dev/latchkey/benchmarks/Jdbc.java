package dev.latchkey.benchmarks;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.jdbc.JdbcStore;
import dev.latchkey.testkit.PostgresServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbc.JdbcLockProvider;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** The JDBC store on PostgreSQL beside its peers and the least that locks there, all on one HikariCP pool. */
final class Jdbc {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final int CONNECTIONS = 10;

    /** How often those ask again that cannot wait. */
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

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

    private Jdbc() {}

    static void run() {
        try (PostgresServer server = PostgresServer.start();
                HikariDataSource pool = pool(server);
                JdbcStore store = new JdbcStore(pool);
                LockFactory locks = new LockFactory(store)) {
            createTables(pool);
            Race.printHead("PostgreSQL without fsync, one pool of " + CONNECTIONS + " connections");
            new Race("uncontended: 1 thread", contenders(locks, pool), 1).print();
            new Race("contended: 8 threads, one lock", contenders(locks, pool), 8).print();
        }
    }

    private static HikariDataSource pool(PostgresServer server) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(server.jdbcUrl());
        config.setMaximumPoolSize(CONNECTIONS);
        return new HikariDataSource(config);
    }

    private static void createTables(DataSource pool) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(TABLES);
        } catch (SQLException e) {
            throw new IllegalStateException("the tables of the peers could not be created", e);
        }
    }

    private static Map<String, Contender.Cycles> contenders(LockFactory locks, DataSource pool) {
        Map<String, Contender.Cycles> contenders = new LinkedHashMap<>();
        contenders.put("Latchkey", resource -> {
            Lock lock = locks.createLock(resource, TTL);
            return () -> lock.acquire().release();
        });
        contenders.put("Latchkey, shared", resource -> {
            Lock lock = locks.createLock(resource + "-shared", TTL);
            return () -> lock.acquireShared().release();
        });
        contenders.put("upsert + delete, asked every 5 ms", resource -> () -> bareCycle(pool, resource));
        contenders.put("ShedLock, asked every 5 ms", shedLock(pool));
        contenders.put("Spring JdbcLockRegistry", spring(pool));
        return contenders;
    }

    private static boolean bareCycle(DataSource pool, String resource) throws SQLException {
        String token = UUID.randomUUID().toString();
        while (changed(pool, TAKE, resource, token) == 0) {
            LockSupport.parkNanos(POLL_NANOS);
        }
        return changed(pool, GIVE_UP, resource, token) == 1;
    }

    private static int changed(DataSource pool, String sql, String resource, String token) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, resource);
            statement.setString(2, token);
            return statement.executeUpdate();
        }
    }

    private static Contender.Cycles shedLock(DataSource pool) {
        JdbcLockProvider provider = new JdbcLockProvider(pool);
        return resource -> () -> {
            Optional<SimpleLock> lock = provider.lock(configuration(resource));
            while (lock.isEmpty()) {
                LockSupport.parkNanos(POLL_NANOS);
                lock = provider.lock(configuration(resource));
            }
            lock.orElseThrow().unlock();
            return true;
        };
    }

    private static LockConfiguration configuration(String resource) {
        return new LockConfiguration(Instant.now(), resource, TTL, Duration.ZERO);
    }

    private static Contender.Cycles spring(DataSource pool) {
        DefaultLockRepository repository = new DefaultLockRepository(pool);
        repository.setTransactionManager(new JdbcTransactionManager(pool));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        JdbcLockRegistry registry = new JdbcLockRegistry(repository, TTL);
        return resource -> Contender.cycle(registry.obtain(resource));
    }
}
