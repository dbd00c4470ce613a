package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.testkit.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class ConnectingIT {

    @Test
    void givenAConnectionThatNeverComes_whenItIsAwaited_thenItFailsInTime() {
        assertThatThrownBy(() -> Connecting.await(
                        new CompletableFuture<StatefulRedisConnection<String, String>>(), Duration.ofMillis(1)))
                .isInstanceOf(RedisConnectionException.class)
                .hasMessageContaining("PT0.001S");
    }

    @Test
    void givenAConnectionThatComesTooLate_whenItComes_thenItIsClosed() {
        try (RedisServer server = RedisServer.start();
                RedisClient client = RedisClient.create(server.dsn())) {
            var late = new CompletableFuture<StatefulRedisConnection<String, String>>();
            assertThatThrownBy(() -> Connecting.await(late, Duration.ofMillis(1)))
                    .isInstanceOf(RedisConnectionException.class);
            StatefulRedisConnection<String, String> connection = client.connect();

            late.complete(connection);

            Awaitility.await().until(() -> !connection.isOpen());
        }
    }
}
