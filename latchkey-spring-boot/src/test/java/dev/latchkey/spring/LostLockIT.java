package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.LockException;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.jdbc.JdbcStore;
import dev.latchkey.postgres.PostgresAdvisoryStore;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.OwnServer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.Transactional;

/** A lock is lost while a transaction runs under it: that is rolled back, whatever has ended the hold. */
class LostLockIT {

    private static final String RELEASE_BY_FORCE = "DELETE FROM latchkey_lock WHERE resource = 'work'";

    private static final String LOCK_NOT_AVAILABLE = "55P03";

    /** A TTL whose end is waited for. */
    private static final String WAITED_FOR = "5s";

    /** What is done to the lock while the transaction is open. */
    interface Fault {
        void happen() throws Exception;
    }

    private static PostgresServer database;

    private final RedisServer redis = RedisServer.start();

    @BeforeAll
    static void start() {
        database = PostgresServer.start();
    }

    @AfterAll
    static void stop() {
        database.close();
    }

    @BeforeEach
    void createTable() throws Exception {
        try (var connection = database.connect();
                var statement = connection.createStatement()) {
            statement.execute("DROP TABLE IF EXISTS written, latchkey_lock");
            statement.execute("CREATE TABLE written (n int)");
        }
    }

    @AfterEach
    void stopRedis() {
        redis.close();
    }

    @Test
    void givenNothingHappens_thenCommitted() throws Exception {
        try (ConfigurableApplicationContext app = onRedis("30s")) {
            app.getBean(Work.class).write(() -> {});
            assertThat(written(app)).isEqualTo(1);
        }
        try (ConfigurableApplicationContext app = onPostgres("30s")) {
            app.getBean(Work.class).write(() -> {});
            assertThat(written(app)).isEqualTo(2);
        }
    }

    @Test
    void givenRedis_whenTheKeyIsGone_thenNotCommitted() {
        try (ConfigurableApplicationContext app = onRedis("30s")) {
            assertNotCommitted(app, () -> redis.call("FLUSHALL"));
        }
    }

    /** Latchkey has no operation for that: operators delete what the store keeps, and the next one acquires the lock. */
    @Test
    void givenRedis_whenAnOperatorReleasesByForceAndAnotherAcquires_thenNotCommitted() {
        try (ConfigurableApplicationContext app = onRedis("30s");
                ConfigurableApplicationContext other = onRedis("30s")) {
            assertNotCommitted(app, () -> {
                assertThat(redis.text("DEL", "lock:{work}")).isEqualTo("1");
                assertAcquires(other);
            });
        }
    }

    @Test
    void givenAdvisoryLocks_whenAnOperatorTerminatesTheSessionOfTheLock_thenNotCommitted() {
        try (ConfigurableApplicationContext app = Apps.start(OnAdvisoryLocks.class, Apps.on(database.jdbcUrl()))) {
            assertNotCommitted(
                    app,
                    () -> query(
                            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"));
        }
    }

    @Test
    void givenRedis_whenItIsKilledAndComesBackWithoutData_thenNotCommitted() {
        try (ConfigurableApplicationContext app = onRedis("30s")) {
            assertNotCommitted(app, () -> {
                redis.kill();
                redis.restartEmpty();
            });
        }
    }

    @Test
    void givenRedis_whenItIsKilled_thenNotCommitted() {
        try (ConfigurableApplicationContext app = onRedis("30s")) {
            assertNotCommitted(app, redis::kill);
        }
    }

    /** The thread is told, and the transaction is not committed though the thread goes on. */
    @Test
    void givenRedis_whenItIsFrozenForLongerThanTheTtl_thenInterruptedAndNotCommitted() {
        try (ConfigurableApplicationContext app = onRedis(WAITED_FOR)) {
            assertNotCommitted(app, () -> freezeUntilInterrupted(redis));
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Application.class, OwnStore.class, OwnPool.class})
    void givenTheSameDatabase_whenAnOperatorReleasesByForce_thenNotCommitted(Class<?> application) {
        try (ConfigurableApplicationContext app = Apps.start(application, Apps.on(database.jdbcUrl()))) {
            assertNotCommitted(app, () -> execute(RELEASE_BY_FORCE));
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Application.class, OwnStore.class, OwnPool.class})
    void givenTheSameDatabase_whenAnOperatorReleasesByForceAndAnotherAcquires_thenNotCommitted(Class<?> application) {
        try (ConfigurableApplicationContext app = Apps.start(application, Apps.on(database.jdbcUrl()));
                ConfigurableApplicationContext other = onPostgres("30s")) {
            assertNotCommitted(app, () -> {
                execute(RELEASE_BY_FORCE);
                assertAcquires(other);
            });
        }
    }

    /** After the last check there is no moment in which the lock could be lost: that is what the guard is for. */
    @ParameterizedTest
    @ValueSource(classes = {Application.class, OwnStore.class, OwnPool.class})
    void givenTheSameDatabase_whenAnOperatorReleasesByForceAfterTheCheck_thenHeHasToWaitForTheCommit(
            Class<?> application) {
        try (ConfigurableApplicationContext app = Apps.start(application, Apps.on(database.jdbcUrl()))) {
            List<String> attempts = new ArrayList<>();
            app.getBean(ConfigurableTransactionManager.class).addListener(new TransactionExecutionListener() {
                @Override
                public void beforeCommit(TransactionExecution transaction) {
                    attempts.add(sqlState("SET lock_timeout = '200ms'; " + RELEASE_BY_FORCE));
                }
            });

            app.getBean(Work.class).write(() -> {});

            assertThat(attempts).containsExactly(LOCK_NOT_AVAILABLE);
            assertThat(written(app)).isEqualTo(1);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Nothing is known of it here: it is the database that refuses. */
    @Test
    void givenTheSameDatabase_whenTheLeaseIsOverThere_thenNotCommitted() {
        try (ConfigurableApplicationContext app = onPostgres("30s")) {
            assertNotCommitted(app, () -> execute("UPDATE latchkey_lock SET expires_at = 1"));
        }
    }

    @Test
    void givenTheSameDatabase_whenAnotherHasTheLock_thenNotCommitted() {
        try (ConfigurableApplicationContext app = onPostgres("30s")) {
            assertNotCommitted(app, () -> execute("UPDATE latchkey_lock SET token = 'another'"));
        }
    }

    @Test
    void givenTheSameDatabase_whenItIsFrozenForLongerThanTheTtl_thenNotCommitted() {
        try (ConfigurableApplicationContext app = onPostgres(WAITED_FOR)) {
            assertNotCommitted(app, () -> freezeUntilInterrupted(database));
        }
    }

    /** The lock was taken in a transaction of the caller, which ends later than the method. */
    @Test
    void givenATransactionOutside_whenTheLockIsLost_thenNotCommitted() {
        try (ConfigurableApplicationContext app = onPostgres("30s")) {
            Outside outside = app.getBean(Outside.class);

            assertThatThrownBy(() -> outside.write(() -> execute("UPDATE latchkey_lock SET token = 'another'")))
                    .isInstanceOf(LockLostException.class);
            assertThat(written(app)).isZero();
        }
    }

    private static void assertNotCommitted(ConfigurableApplicationContext app, Fault fault) {
        Work work = app.getBean(Work.class);

        assertThatThrownBy(() -> work.write(fault)).isInstanceOf(LockException.class);
        assertThat(written(app)).isZero();
    }

    /** Another thread freezes it: the interrupt may come before that is done, and is for the sleep. */
    private static void freezeUntilInterrupted(OwnServer server) {
        try {
            CompletableFuture.runAsync(server::freeze).join();
            assertThatThrownBy(() -> Thread.sleep(Duration.ofMinutes(1).toMillis()))
                    .isInstanceOf(InterruptedException.class);
        } finally {
            server.thaw();
        }
    }

    private static void assertAcquires(ConfigurableApplicationContext other) {
        assertThat(other.getBean(LockFactory.class).createLock("work").tryAcquire())
                .isTrue();
    }

    private static void query(String sql) throws Exception {
        try (var connection = database.connect();
                var rows = connection.createStatement().executeQuery(sql)) {
            assertThat(rows.next()).isTrue();
        }
    }

    /** Empty if it went well. */
    private static String sqlState(String sql) {
        try (var connection = database.connect();
                var statement = connection.createStatement()) {
            statement.execute(sql);
            return "";
        } catch (SQLException e) {
            return e.getSQLState();
        }
    }

    private static void execute(String sql) throws Exception {
        try (var connection = database.connect();
                var statement = connection.createStatement()) {
            assertThat(statement.executeUpdate(sql)).isPositive();
        }
    }

    private static long written(ConfigurableApplicationContext app) {
        return app.getBean(JdbcClient.class)
                .sql("SELECT count(*) FROM written")
                .query(Long.class)
                .single();
    }

    private ConfigurableApplicationContext onRedis(String ttl) {
        return Apps.start(
                Application.class,
                Apps.on(
                        database.jdbcUrl(),
                        "latchkey.store=redis",
                        "latchkey.ttl=" + ttl,
                        "spring.data.redis.url=" + redis.dsn(),
                        Apps.PATIENT_REDIS));
    }

    private static ConfigurableApplicationContext onPostgres(String ttl) {
        return Apps.start(Application.class, Apps.on(database.jdbcUrl(), "latchkey.ttl=" + ttl));
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Application.class)
    static class OwnStore {
        @Bean
        JdbcStore ownStore(DataSource dataSource) {
            return new JdbcStore(dataSource);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Application.class)
    static class OwnPool {
        @Bean(defaultCandidate = false)
        HikariDataSource lockPool(DataSourceProperties properties) {
            return properties
                    .initializeDataSourceBuilder()
                    .type(HikariDataSource.class)
                    .build();
        }

        @Bean
        JdbcStore lockStore(@Qualifier("lockPool") HikariDataSource pool) {
            return new JdbcStore(pool);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Application.class)
    static class OnAdvisoryLocks {
        @Bean
        PostgresAdvisoryStore lockStore(DataSource dataSource) {
            return new PostgresAdvisoryStore(dataSource);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Work.class, Inside.class, Outside.class})
    static class Application {}

    static class Work {

        private final JdbcClient sql;

        Work(JdbcClient sql) {
            this.sql = sql;
        }

        @Locked("'work'")
        @Transactional
        void write(Fault fault) throws Exception {
            sql.sql("INSERT INTO written VALUES (1)").update();
            fault.happen();
        }
    }

    static class Inside {
        @Locked("'work'")
        void locked() {
            assertThat(CurrentLock.get().isLost()).isFalse();
        }
    }

    static class Outside {

        private final JdbcClient sql;
        private final Inside inside;

        Outside(JdbcClient sql, Inside inside) {
            this.sql = sql;
            this.inside = inside;
        }

        @Transactional
        void write(Fault fault) throws Exception {
            sql.sql("INSERT INTO written VALUES (1)").update();
            inside.locked();
            fault.happen();
        }
    }
}
