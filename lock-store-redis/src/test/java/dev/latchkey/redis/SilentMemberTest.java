package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.combined.CombinedStore;
import dev.latchkey.combined.ConsensusStrategy;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.store.InMemoryStore;
import io.lettuce.core.RedisClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A server that accepts connections and never answers. Its store has never been connected. */
class SilentMemberTest {

    /** The store gives up connecting after 30 seconds. */
    private static final Duration AT_ONCE = Duration.ofSeconds(15);

    private ServerSocket silent;
    private RedisClient client;

    @BeforeEach
    void start() throws IOException {
        silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        client = RedisClient.create("redis://127.0.0.1:" + silent.getLocalPort());
    }

    @AfterEach
    void stop() throws IOException {
        silent.close();
        client.shutdown(Duration.ZERO, Duration.ZERO);
    }

    private static Request request(String resource) {
        return new Request(
                Key.of(resource),
                LockMode.EXCLUSIVE,
                Duration.ofMinutes(5),
                RetryIntent.ONCE,
                LeaseChange.EXTEND,
                "host/1");
    }

    /** Its caller connected to write down who asks. */
    @Test
    void givenAnOwnerName_whenSavedWithoutWaiting_thenItDoesNotWait() {
        try (RedisStore store = RedisStore.builder(client).build()) {
            long since = System.nanoTime();

            CompletionStage<Response> answer = store.saveAsync(request("sent"), 0);

            assertThat(Duration.ofNanos(System.nanoTime() - since)).isLessThan(AT_ONCE);
            assertThat(answer.toCompletableFuture()).isNotDone();
        }
    }

    @Test
    void givenAnOwnerName_whenTheTwoOthersGrant_thenItIsGranted() {
        try (RedisStore store = RedisStore.builder(client).build();
                CombinedStore quorum = new CombinedStore(
                        List.of(store, new InMemoryStore(), new InMemoryStore()), new ConsensusStrategy())) {
            assertThat(quorum.save(request("agreed"))).isInstanceOf(Response.Granted.class);
        }
    }
}
