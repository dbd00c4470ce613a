package dev.latchkey.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.EtcdServer;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.Requests;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What waits leave behind, and what they come to when their store is closed. */
class CloseIT {

    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final Duration TTL = Duration.ofMinutes(5);

    private static EtcdServer server;

    @BeforeAll
    static void start() {
        server = EtcdServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static EtcdStore open() {
        return Stores.open(server.dsn() + "?timeout=60s");
    }

    private static Response await(EtcdStore store, String resource, Duration maxWait) throws InterruptedException {
        return store.waitAndSave(Requests.exclusive(Key.of(resource), TTL), maxWait, new CompletableFuture<Void>());
    }

    @Test
    void givenManyHaveWaited_whenAllAreServed_thenTheStoreKeepsNothingOfThem() throws Exception {
        try (EtcdStore store = open()) {
            assertThat(await(store, "held", LIMIT)).isInstanceOf(Response.Granted.class);
            for (int i = 0; i < 50; i++) {
                assertThat(await(store, "free-" + i, LIMIT)).isInstanceOf(Response.Granted.class);
                assertThat(await(store, "held", Duration.ofMillis(1))).isInstanceOf(Response.Conflicted.class);
            }

            assertThat(store.waits()).isZero();
        }
    }

    @Test
    void givenWaiting_whenClosed_thenTheWaitFails() throws Exception {
        try (EtcdStore holders = open()) {
            assertThat(await(holders, "report", LIMIT)).isInstanceOf(Response.Granted.class);
            for (int i = 0; i < 10; i++) {
                EtcdStore store = open();
                BackgroundCall<Response> waiting = BackgroundCall.start(() -> await(store, "report", LIMIT));
                Awaitility.await().atMost(LIMIT).until(() -> server.watchers() == 1);

                store.close();

                assertThatThrownBy(waiting::result).isInstanceOf(LockStorageException.class);
                Awaitility.await().atMost(LIMIT).until(() -> server.watchers() == 0);
            }
        }
    }
}
