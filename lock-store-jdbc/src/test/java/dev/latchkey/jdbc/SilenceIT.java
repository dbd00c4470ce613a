package dev.latchkey.jdbc;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.hsqldb.Server;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** B15: a server that falls silent held a caller for ever, where the driver has no limit of its own. */
@Execution(ExecutionMode.CONCURRENT)
class SilenceIT {

    private static final Duration LIMIT = TimeLimits.LIMIT;

    @TempDir
    Path directory;

    @Test
    void givenAnH2Server_whenItFallsSilent_thenAFailureWithinTheLimit() throws Exception {
        org.h2.tools.Server server = org.h2.tools.Server.createTcpServer(
                        "-tcpPort", "0", "-baseDir", directory.toString(), "-ifNotExists")
                .start();
        try (FaultProxy proxy = FaultProxy.to(new ServerAddress("127.0.0.1", server.getPort()))) {
            assertFailsInSilence(proxy, "jdbc:h2:tcp://" + proxy.address() + "/./locks");
        } finally {
            server.stop();
        }
    }

    @Test
    void givenAnHsqldbServer_whenItFallsSilent_thenAFailureWithinTheLimit() throws Exception {
        Server server = startHsqldb("silence");
        try (FaultProxy proxy = FaultProxy.to(new ServerAddress("127.0.0.1", server.getPort()))) {
            assertFailsInSilence(proxy, "jdbc:hsqldb:hsql://" + proxy.address() + "/locks;user=SA");
        } finally {
            server.stop();
        }
    }

    /** The limit of a call was the same for one resource and for many. */
    @Test
    @Tag("slow")
    void givenAnHsqldbServer_whenManyResourcesTakeLongerThanOneMay_thenItIsNotTakenForSilent() throws Exception {
        Server server = startHsqldb("slowness");
        String url = "jdbc:hsqldb:hsql://127.0.0.1:" + server.getPort() + "/locks;user=SA";
        try (JdbcStore store = Stores.open(url);
                Connection other = DriverManager.getConnection(url);
                Statement statement = other.createStatement()) {
            Map<String, StateIndex> raised = IntStream.range(0, 300)
                    .boxed()
                    .collect(Collectors.toMap(i -> "part-" + i, i -> new StateIndex(i, i)));
            store.raise(Map.of("part-0", new StateIndex(0, 0)));
            other.setAutoCommit(false);
            statement.execute("LOCK TABLE latchkey_lock_index WRITE");

            Task<Boolean> raising = Task.start(() -> {
                store.raise(raised);
                return true;
            });

            // One second more than a call for one resource may take.
            Awaitility.await()
                    .during(Duration.ofSeconds(11))
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> !raising.isDone());
            other.commit();
            assertThat(raising.result()).isTrue();
            assertThat(store.indexes(raised.keySet())).isEqualTo(raised);
        } finally {
            server.stop();
        }
    }

    private static Server startHsqldb(String database) {
        Server server = new Server();
        server.setPort(ServerAddress.unused().port());
        server.setDatabaseName(0, "locks");
        server.setDatabasePath(0, "mem:" + database);
        server.setSilent(true);
        server.setLogWriter(null);
        server.start();
        return server;
    }

    /** The driver takes the limit from the pool as a text alone. */
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "mysql"})
    void givenAServer_whenItFallsSilent_thenAFailureWithinTheLimit(String scheme) throws Exception {
        if (scheme.equals("postgresql")) {
            try (PostgresServer server = PostgresServer.start();
                    FaultProxy proxy = FaultProxy.to(server.address())) {
                assertFailsInSilence(proxy, PostgresServer.dsn(proxy.address()));
            }
            return;
        }
        String tls = scheme.equals("mysql") ? "DISABLED" : "disable";
        try (MariaDbServer server = MariaDbServer.start();
                FaultProxy proxy = FaultProxy.to(server.address())) {
            assertFailsInSilence(proxy, scheme + "://root@" + proxy.address() + "/test?sslMode=" + tls);
        }
    }

    /** One after the other, the last of many was told after many times the limit. */
    @Test
    void givenAServerThatNeverAnswers_whenManyAsk_thenAllAreToldWithinTheLimitOfOne() throws Exception {
        try (ServerSocket silent = new ServerSocket(0);
                JdbcStore store = Stores.open("postgresql://u@127.0.0.1:" + silent.getLocalPort()
                        + "/db?connectTimeout=3&loginTimeout=3&sslmode=disable")) {
            long start = System.nanoTime();
            List<Task<Response>> asked = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                asked.add(Task.start(() -> store.save(exclusive(Key.of("unheard")))));
            }

            for (Task<Response> one : asked) {
                assertThatThrownBy(one::result).hasCauseInstanceOf(LockStorageException.class);
            }
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
        }
    }

    private static void assertFailsInSilence(FaultProxy proxy, String dsn) throws Exception {
        try (JdbcStore store = Stores.open(dsn)) {
            granted(store.save(exclusive(Key.of("warm-up"))));
            proxy.silence();
            long start = System.nanoTime();

            Task<Response> asked = Task.start(() -> store.save(exclusive(Key.of("silent"))));

            assertThatThrownBy(asked::result).hasCauseInstanceOf(LockStorageException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LIMIT);
            proxy.heal();
            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .ignoreExceptionsInstanceOf(LockStorageException.class)
                    .until(() -> store.save(exclusive(Key.of("healed"))) instanceof Response.Granted);
        }
    }
}
