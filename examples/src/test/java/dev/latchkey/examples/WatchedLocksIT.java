package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Lock;
import dev.latchkey.jdbc.JdbcStore;
import dev.latchkey.redis.RedisStore;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.ChildJvm;
import dev.latchkey.testkit.TimeLimits;
import io.lettuce.core.RedisClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/** With a listener, metrics and a flight recording, locks cost the server nothing more, and show no secret. */
class WatchedLocksIT {

    private static final int CYCLES = 100;
    private static final String PASSWORD = "sesame-0a6c2f";

    @TempDir
    Path directory;

    @Test
    void givenRedis_whenAllIsOn_thenACycleIsTwoCommandsStill() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            RedisClient client = RedisClient.create(server.dsn());
            try (RedisStore store = RedisStore.builder(client)
                            .commandTimeout(TimeLimits.scaled(Duration.ofSeconds(3)))
                            .build();
                    WatchedLocks watched = WatchedLocks.over(store)) {
                subscribe(server, watched);
                cycles(watched, 19);
                server.call("CONFIG", "RESETSTAT");

                cycles(watched, CYCLES);

                String executed = server.text("INFO", "commandstats")
                        .lines()
                        .filter(line -> line.startsWith("cmdstat_evalsha:")
                                || line.startsWith("cmdstat_eval:")
                                || line.startsWith("cmdstat_publish:"))
                        .map(line -> line.replaceFirst(",.*", ""))
                        .toList()
                        .toString();
                assertThat(executed).isEqualTo("[cmdstat_evalsha:calls=" + 2 * CYCLES + "]");
                assertCounted(watched);
            } finally {
                client.shutdown(0, 2, TimeUnit.SECONDS);
            }
        }
    }

    /**
     * The first cycle of a store, which subscribes once it has held something for a while, and then asks for each hold that it has:
     * not while commands are counted.
     */
    private static void subscribe(RedisServer server, WatchedLocks watched) {
        Lock held = watched.locks().createLock("held for a while", Duration.ofMinutes(30));
        assertThat(held.tryAcquire()).isTrue();
        // Scripts that the server has not seen yet: to acquire, to note the owner, and to ask for the hold.
        await().until(() -> server.text("INFO", "commandstats").contains("cmdstat_eval:calls=3,"));
        assertThat(held.release()).isTrue();
    }

    @Test
    void givenPostgreSql_whenAllIsOn_thenACycleIsTwoStatementsStill() throws Exception {
        try (PostgresServer server = PostgresServer.start("log_statement=all")) {
            PGSimpleDataSource database = new PGSimpleDataSource();
            database.setUrl(PostgresServer.jdbcUrl(server.dsn()));
            try (JdbcStore store = new JdbcStore(database);
                    WatchedLocks watched = WatchedLocks.over(store)) {
                cycles(watched, 20);
                List<String> before = statements(server);

                cycles(watched, CYCLES);

                List<String> after = statements(server);
                assertThat(after.subList(before.size(), after.size())).hasSize(2 * CYCLES);
                assertCounted(watched);
            }
        }
    }

    /** Those that change something: this data source opens a connection for each, and sets it up. */
    private static List<String> statements(PostgresServer server) {
        return server.log().stream()
                .filter(line -> line.matches(".*LOG:  (execute|statement).*(INSERT|UPDATE|DELETE|SELECT).*"))
                .toList();
    }

    private static void assertCounted(WatchedLocks watched) {
        await().untilAsserted(() -> {
            assertThat(watched.count("latchkey.hold")).isEqualTo(20 + CYCLES);
            assertThat(watched.count("latchkey.acquire")).isEqualTo(20 + CYCLES);
            assertThat(watched.count("latchkey.store.call")).isEqualTo(2 * (20 + CYCLES));
        });
    }

    private static void cycles(WatchedLocks watched, int number) {
        for (int i = 0; i < number; i++) {
            Lock lock = watched.locks().createLock("counted", Duration.ofSeconds(60));
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(lock.release()).isTrue();
        }
    }

    @Test
    void givenRedis_whenAllIsOn_thenNoSecretIsShown() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            String dsn = server.dsn().replace("redis://", "redis://:" + PASSWORD + "@");
            server.call("CONFIG", "SET", "requirepass", PASSWORD);

            assertNoSecretIsShown(PatientDsn.redis(dsn));
        }
    }

    @Test
    void givenPostgreSql_whenAllIsOn_thenNoSecretIsShown() throws Exception {
        try (PostgresServer server = PostgresServer.start()) {
            try (Connection connection = DriverManager.getConnection(PostgresServer.jdbcUrl(server.dsn()));
                    Statement statement = connection.createStatement()) {
                statement.execute("CREATE ROLE watched LOGIN SUPERUSER PASSWORD '" + PASSWORD + "'");
            }
            String dsn = server.dsn().replaceFirst("//[^@/]*@", "//watched:" + PASSWORD + "@");

            assertNoSecretIsShown(PostgresServer.jdbcUrl(dsn));
        }
    }

    /** What a failure says. */
    @Test
    void givenAServerThatIsGone_whenAllIsOn_thenNoPasswordIsShown() throws Exception {
        String redis = said("redis://:" + PASSWORD + "@localhost:1");

        assertThat(redis).contains("Failed[resource=orders").doesNotContain(PASSWORD);
    }

    private void assertNoSecretIsShown(String dsn) throws Exception {
        assertThat(dsn).contains(PASSWORD);
        String said = said(dsn);

        List<String> tokens = Files.readAllLines(directory.resolve("tokens"));
        assertThat(tokens).hasSize(3).allSatisfy(token -> assertThat(token).hasSizeGreaterThan(10));
        assertThat(said)
                .contains(
                        "lock.acquired",
                        "Acquired[resource=orders",
                        "Lost[resource=orders",
                        "latchkey_hold_seconds_count")
                .doesNotContain(PASSWORD)
                .doesNotContain(tokens);
        assertThat(Files.readString(directory.resolve("locks.jfr"), StandardCharsets.ISO_8859_1))
                .contains("dev.latchkey.Hold", "orders")
                .doesNotContain(PASSWORD)
                .doesNotContain(tokens);
    }

    /** Whatever a process says, with all logs on. */
    private String said(String dsn) throws Exception {
        Path output = directory.resolve("output");
        Process process = ChildJvm.of("watched")
                .start(new ProcessBuilder(
                                "-Dorg.slf4j.simpleLogger.defaultLogLevel=debug",
                                "-Dorg.slf4j.simpleLogger.log.dev.latchkey=trace",
                                WatchedLocks.class.getName(),
                                dsn,
                                directory.resolve("locks.jfr").toString(),
                                directory.resolve("tokens").toString())
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile()));
        assertThat(process.waitFor(2 * TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        String said = Files.readString(output);
        assertThat(process.exitValue()).as(said).isZero();
        return said;
    }
}
