package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.TimeLimits;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class TimedConnectIT {

    @Test
    void givenAConnectionThatNeverComes_whenItIsAwaited_thenItFailsInTime() {
        assertThatThrownBy(() -> TimedConnect.await(
                        new CompletableFuture<StatefulRedisConnection<String, String>>(), Duration.ofMillis(1)))
                .isInstanceOf(RedisConnectionException.class)
                .hasMessageContaining("PT0.001S");
    }

    @Test
    void givenAConnectionThatComesTooLate_whenItComes_thenItIsClosed() {
        try (RedisServer server = RedisServer.start();
                RedisClient client = RedisClient.create(server.dsn())) {
            var late = new CompletableFuture<StatefulRedisConnection<String, String>>();
            assertThatThrownBy(() -> TimedConnect.await(late, Duration.ofMillis(1)))
                    .isInstanceOf(RedisConnectionException.class);
            StatefulRedisConnection<String, String> connection = client.connect();

            late.complete(connection);

            Awaitility.await().until(() -> !connection.isOpen());
        }
    }

    /** C28: an application ends its client when it likes; the driver warned of every connection that was closed twice. */
    @Test
    void givenTheApplicationHasEndedItsClient_whenTheStoreIsClosed_thenTheDriverWarnsOfNothing() throws Exception {
        PrintStream before = System.err;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
        try (RedisServer server = RedisServer.start()) {
            RedisClient client = RedisClient.create(server.dsn());
            RedisStore store =
                    RedisStore.builder(client).commandTimeout(TimeLimits.LIMIT).build();
            LockFactory locks = new LockFactory(store);
            assertThat(locks.createLock("r", Duration.ofSeconds(60)).tryAcquire())
                    .isTrue();
            // Has it subscribe.
            assertThat(locks.createLock("r").tryAcquire(Duration.ofMillis(300))).isFalse();
            Awaitility.await()
                    .until(() ->
                            String.valueOf(server.call("PUBSUB", "CHANNELS")).contains("lock:in:"));

            client.shutdown(0, 2, TimeUnit.SECONDS);
            store.close();
            locks.close();
        } finally {
            System.setErr(before);
        }
        assertThat(written.toString(StandardCharsets.UTF_8)).doesNotContain("already closed");
    }
}
