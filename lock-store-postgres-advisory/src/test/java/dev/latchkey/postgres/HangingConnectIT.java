package dev.latchkey.postgres;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** A server that lets nobody in for long, while the connections that are open end one after the other. */
class HangingConnectIT {

    private final List<String> lost = new CopyOnWriteArrayList<>();
    private final CountDownLatch connecting = new CountDownLatch(1);
    private final CountDownLatch letIn = new CountDownLatch(1);
    private volatile boolean hangs;

    /** Whoever connected kept its resource to itself, and the thread that looks at the connections waited for that one. */
    @Test
    void givenOneConnectsForLong_whenConnectionsEndOneAfterTheOther_thenEachHolderIsToldAtOnce() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                PostgresAdvisoryStore rivals = Stores.open(server);
                PostgresAdvisoryStore store = new PostgresAdvisoryStore(source(server))) {
            watch(granted(store.save(exclusive(Key.of("first")))), "first");
            watch(waitFor("second", store, rivals, server), "second");
            watch(waitFor("third", store, rivals, server), "third");
            hangs = true;
            try {
                terminate("first", store, server);
                awaitLost("first");
                BackgroundCall<Response> late = BackgroundCall.start(() -> store.save(exclusive(Key.of("late"))));
                connecting.await();
                terminate("second", store, server);
                awaitLost("first", "second");

                terminate("third", store, server);

                awaitLost("first", "second", "third");
                assertThat(late.isDone()).isFalse();
                letIn.countDown();
                granted(late.result());
                Awaitility.await()
                        .untilAsserted(() -> assertThat(store.resources()).isEqualTo(1));
            } finally {
                letIn.countDown();
            }
        }
    }

    private PGSimpleDataSource source(PostgresServer server) {
        PGSimpleDataSource source = new PGSimpleDataSource() {
            @Override
            public Connection getConnection() throws SQLException {
                if (hangs) {
                    connecting.countDown();
                    awaitUninterrupted();
                }
                return super.getConnection();
            }
        };
        source.setUrl(server.jdbcUrl());
        return source;
    }

    private void awaitUninterrupted() throws SQLException {
        try {
            letIn.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("interrupted", "08001", e);
        }
    }

    /** Who has waited is carried by a connection of its own. */
    private static Response.Granted waitFor(
            String resource, PostgresAdvisoryStore store, PostgresAdvisoryStore rivals, PostgresServer server)
            throws Exception {
        Key rival = Key.of(resource);
        granted(rivals.save(exclusive(rival)));
        BackgroundCall<Response> waiting = BackgroundCall.start(() ->
                store.waitAndSave(exclusive(Key.of(resource)), Duration.ofSeconds(60), new CompletableFuture<>()));
        Awaitility.await().until(() -> Raw.waiting(server) == 1);
        assertThat(rivals.delete(rival)).isTrue();
        return granted(waiting.result());
    }

    private void watch(Response.Granted granted, String resource) {
        granted.lease().lost().orElseThrow().thenRun(() -> lost.add(resource));
    }

    private static void terminate(String resource, PostgresAdvisoryStore store, PostgresServer server)
            throws SQLException {
        Session carrying = store.sessions().open().stream()
                .filter(session -> session.holds().stream()
                        .anyMatch(hold -> hold.key().resource().equals(resource)))
                .findFirst()
                .orElseThrow();
        Raw.run(server, "SELECT pg_terminate_backend(" + carrying.pid() + ")");
    }

    private void awaitLost(String... resources) {
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .untilAsserted(() -> assertThat(lost).containsExactly(resources));
    }
}
