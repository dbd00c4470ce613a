package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.LockException;
import dev.latchkey.LockLostException;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.servers.RedisServer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;

/** A lock is lost while a transaction runs under it: that is rolled back, whatever has ended the hold. */
@Timeout(value = 240, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LostLockIT {

    /** What is done to the lock while the transaction is open. */
    interface Fault {
        void happen() throws Exception;
    }

    private final PostgresServer database = PostgresServer.start();
    private final RedisServer redis = RedisServer.start();

    @BeforeEach
    void createTable() throws Exception {
        try (var connection = database.connect();
                var statement = connection.createStatement()) {
            statement.execute("CREATE TABLE written (n int)");
        }
    }

    @AfterEach
    void stop() {
        redis.close();
        database.close();
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

    /** As a release by force, which is not supported yet: the key is removed, and another acquires the lock. */
    @Test
    void givenRedis_whenAnotherHasTheLockByForce_thenNotCommitted() {
        try (ConfigurableApplicationContext app = onRedis("30s");
                ConfigurableApplicationContext other = onRedis("30s")) {
            assertNotCommitted(app, () -> {
                redis.call("FLUSHALL");
                Thread rival = new Thread(
                        () -> other.getBean(LockTemplate.class).run("work", () -> await().until(() -> false)));
                rival.setDaemon(true);
                rival.start();
                await().until(() -> !"0".equals(redis.text("DBSIZE")));
            });
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
        try (ConfigurableApplicationContext app = onRedis("1s")) {
            assertNotCommitted(app, () -> {
                redis.freeze();
                assertThatThrownBy(() -> Thread.sleep(Duration.ofMinutes(1).toMillis()))
                        .isInstanceOf(InterruptedException.class);
                redis.thaw();
            });
        }
    }

    @Test
    void givenTheSameDatabase_whenTheRowIsGone_thenNotCommitted() {
        try (ConfigurableApplicationContext app = onPostgres("30s")) {
            assertNotCommitted(app, () -> execute("DELETE FROM latchkey_lock"));
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
        try (ConfigurableApplicationContext app = onPostgres("1s")) {
            assertNotCommitted(app, () -> {
                database.freeze();
                assertThatThrownBy(() -> Thread.sleep(Duration.ofMinutes(1).toMillis()))
                        .isInstanceOf(InterruptedException.class);
                database.thaw();
            });
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

    private void execute(String sql) throws Exception {
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
                        "spring.data.redis.url=" + redis.dsn()));
    }

    private ConfigurableApplicationContext onPostgres(String ttl) {
        return Apps.start(Application.class, Apps.on(database.jdbcUrl(), "latchkey.ttl=" + ttl));
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
