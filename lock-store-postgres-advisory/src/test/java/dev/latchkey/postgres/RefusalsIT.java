package dev.latchkey.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.PgBouncer;
import dev.latchkey.servers.PostgresServer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers on which a lock would be none. */
class RefusalsIT {

    @Test
    void givenAStandby_whenAcquired_thenRefusedUntilPromotedAndThenTokensGrow() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                PostgresAdvisoryStore store = Stores.open(server);
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock("report");
            assertThat(lock.tryAcquire()).isTrue();
            long before = lock.fencingToken().orElseThrow();
            Path data = Path.of(Raw.ask(server, "SHOW data_directory"));
            server.kill();
            Files.createFile(data.resolve("standby.signal"));
            server.restart();

            assertThatThrownBy(() -> locks.createLock("report").tryAcquire())
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("standby")
                    .hasMessageContaining("targetServerType=primary");

            Raw.run(server, "SELECT pg_promote()");
            Lock next = locks.createLock("report");
            assertThat(next.tryAcquire()).isTrue();
            long after = next.fencingToken().orElseThrow();
            assertThat(after).isGreaterThan(before);
            assertThat(after >>> 48).isEqualTo((before >>> 48) + 1);
        }
    }

    @Test
    void givenAPooler_whenAcquired_thenRefused(@TempDir Path directory) throws Exception {
        try (PostgresServer server = PostgresServer.start();
                PgBouncer pooler = PgBouncer.start(server.address(), directory);
                PostgresAdvisoryStore store = Stores.open(pooler.address())) {
            Lock lock = new LockFactory(store).createLock("report");

            assertThatThrownBy(lock::tryAcquire)
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("pooler");

            Awaitility.await()
                    .untilAsserted(() -> assertThat(
                                    Raw.ask(server, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
                            .isEqualTo("0"));
        }
    }

    /** Whoever gets the connection of the pooler next would look for tables in another schema, and wait for ever. */
    @Test
    void givenAPooler_whenRefused_thenItsConnectionsAreAsBefore(@TempDir Path directory) throws Exception {
        try (PostgresServer server = PostgresServer.start();
                PgBouncer pooler = PgBouncer.start(server.address(), directory);
                PostgresAdvisoryStore store = Stores.open(pooler.address());
                var connection = pooler.connect();
                var statement = connection.createStatement()) {
            statement.execute("SET statement_timeout = '7s'");

            assertThatThrownBy(() -> new LockFactory(store).createLock("report").tryAcquire())
                    .isInstanceOf(LockStorageException.class);

            try (var settings = statement.executeQuery(
                    "SELECT current_setting('search_path'), current_setting('statement_timeout')")) {
                assertThat(settings.next()).isTrue();
                assertThat(settings.getString(1)).isEqualTo("\"$user\", public");
                assertThat(settings.getString(2)).isEqualTo("7s");
            }
        }
    }

    @Test
    void givenAPooler_whenATransactionLocks_thenItExcludesTheStore(@TempDir Path directory) throws Exception {
        try (PostgresServer server = PostgresServer.start();
                PgBouncer pooler = PgBouncer.start(server.address(), directory);
                PostgresAdvisoryStore store = Stores.open(server);
                var connection = pooler.connect()) {
            connection.setAutoCommit(false);
            store.transactionLock(connection, "report");
            Lock lock = new LockFactory(store).createLock("report");
            assertThat(lock.tryAcquire()).isFalse();

            connection.commit();

            assertThat(lock.tryAcquire()).isTrue();
        }
    }
}
