package dev.latchkey.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.TimeLimits;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FaultProxyIT {

    private static RedisServer server;
    private FaultProxy proxy;
    private RedisConnection connection;

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
    }

    @AfterAll
    static void endServer() {
        server.close();
    }

    @BeforeEach
    void connect() throws Exception {
        server.call("FLUSHALL");
        proxy = FaultProxy.to(server.address());
        connection = RedisConnection.open(proxy.address());
    }

    @AfterEach
    void disconnect() {
        connection.close();
        proxy.close();
    }

    @Test
    void givenNoFault_whenCalled_thenAnswered() {
        assertThat(connection.text("SET", "a", "1")).isEqualTo("OK");
        assertThat(proxy.connections()).isEqualTo(1);
    }

    @Test
    void givenLostRequest_whenCalled_thenTheServerNeverSawIt() {
        CompletableFuture<Void> lost = proxy.loseRequest("precious");

        assertThatThrownBy(() -> connection.call("SET", "precious", "1")).isInstanceOf(UncheckedIOException.class);

        assertThat(lost).isCompleted();
        assertThat(server.call("GET", "precious")).isNull();
    }

    @Test
    void givenLostReply_whenCalled_thenTheServerDidIt() {
        CompletableFuture<Void> lost = proxy.loseReplyTo("precious");

        assertThatThrownBy(() -> connection.call("SET", "precious", "1")).isInstanceOf(UncheckedIOException.class);

        assertThat(lost).isCompleted();
        assertThat(server.text("GET", "precious")).isEqualTo("1");
    }

    @Test
    void givenDroppedMessage_whenPublished_thenOnlyTheNextArrives() {
        connection.call("SUBSCRIBE", "news");
        CompletableFuture<Void> dropped = proxy.dropMessage("first");

        server.call("PUBLISH", "news", "first");
        assertThat(dropped).succeedsWithin(TimeLimits.LIMIT);
        server.call("PUBLISH", "news", "second");

        assertThat(String.valueOf(connection.call("SUBSCRIBE", "news"))).contains("second");
    }

    @Test
    void givenSilence_whenHealed_thenTheAnswerComesAfterAll() throws Exception {
        proxy.silence();
        BackgroundCall<String> call = BackgroundCall.start(() -> connection.text("INCR", "a"));
        server.call("PING");
        assertThat(server.call("GET", "a")).isNull();

        proxy.heal();

        assertThat(call.result()).isEqualTo("1");
    }

    @Test
    void givenRefusal_whenHealed_thenNewConnectionsWork() throws Exception {
        proxy.refuse();
        assertThatThrownBy(() -> connection.call("PING")).isInstanceOf(UncheckedIOException.class);
        Awaitility.await().until(() -> proxy.connections() == 0);

        proxy.heal();

        try (RedisConnection again = RedisConnection.open(proxy.address())) {
            assertThat(again.text("PING")).isEqualTo("PONG");
        }
    }
}
