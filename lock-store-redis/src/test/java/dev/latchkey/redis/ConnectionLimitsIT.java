package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.spi.KeptHolds;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.testkit.TimeLimits;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When a connection is given up, and when it is not. */
class ConnectionLimitsIT extends OnOneServer {

    private static final KeyNames NAMES = new KeyNames("lock:");

    /** A busy machine may stand still for a part of it, which is not a silence after which a connection is replaced. */
    private static final Duration LIMIT = TimeLimits.ttl(Duration.ofSeconds(6));

    private static final Requests REQUESTS = new Requests(NAMES, Duration.ofMinutes(1), "1");

    private final AtomicInteger opened = new AtomicInteger();
    private RedisClient client;
    private ScriptRunner runner;

    @BeforeEach
    void connect() {
        client = RedisClient.create(server.dsn());
        Connections connections = Connections.of(client).checkedBy(open -> opened.incrementAndGet());
        runner = new ScriptRunner(connections, new Failures("it", NAMES), LIMIT);
    }

    @AfterEach
    void disconnect() {
        server.thaw();
        runner.close();
        client.shutdown(0, 2, TimeUnit.SECONDS);
    }

    /** The failure named the command timeout, and two of them, half a command timeout apart, had the store connect again. */
    @Test
    void givenLessTimeThanTheCommandTimeout_whenNothingIsAnsweredIn_thenTheFailureSaysSoAndTheConnectionIsKept() {
        Refreshes refreshes = new Refreshes(runner, REQUESTS::refresh, new Replicas(runner, 0, Duration.ZERO));
        List<dev.latchkey.spi.Request> request = List.of(dev.latchkey.testkit.Requests.exclusive(Key.of("r")));
        assertThat(refreshes.all(request, LIMIT)).hasSize(1);
        server.freeze();
        // Shorter than the silence after which it is replaced, which RedisNetworkFaultsIT shows.
        long end = System.nanoTime() + LIMIT.toNanos() * 6 / 10;
        while (System.nanoTime() - end < 0) {
            assertThat(refreshes.all(request, Duration.ofMillis(20)))
                    .singleElement()
                    .isInstanceOfSatisfying(
                            RefreshResult.Failed.class,
                            failed -> assertThat(failed.failure()).hasMessageContaining("PT0.02S"));
        }
        server.thaw();

        assertStaysOpen(1);
    }

    /** The answer of a connection that was replaced had the new one replaced as well. */
    @Test
    void givenTheConnectionWasReplaced_whenTheOldOneSaysThatItIsAReplica_thenTheNewOneIsKept() {
        RedisCommandExecutionException replica = new RedisCommandExecutionException("READONLY You can't write");
        SharedConnection link = runner.link();
        assertThat(link.connected("r").isOpen()).isTrue();
        int before = link.generation();
        link.heard(replica, before);
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> link.generation() != before);

        link.heard(replica, before);

        assertStaysOpen(2);
    }

    private void assertStaysOpen(int connections) {
        Awaitility.await()
                .during(Duration.ofMillis(1_500))
                .atMost(TimeLimits.LIMIT)
                .until(() -> opened.get() == connections);
    }

    /** Whoever could not subscribe left the connection open. */
    @Test
    void givenTheConnectionIsClosed_whenTheChannelIsOpened_thenItIsEnded() {
        var messages = client.connectPubSub();
        messages.close();
        AtomicBoolean ended = new AtomicBoolean();
        WaiterRegistry waiters = new WaiterRegistry(runner, "1", NAMES, new ForcedReleases(NAMES), new KeptHolds());

        assertThatThrownBy(() -> PubSubChannel.open(messages, NAMES, waiters, () -> ended.set(true), LIMIT))
                .isInstanceOf(RedisException.class);

        assertThat(ended).isTrue();
    }
}
