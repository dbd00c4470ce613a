package dev.latchkey.redis;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.spi.KeptHolds;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.TimeLimits;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What one wait makes of messages and answers, in orders that a network brings about by chance. */
class QueuedAcquireIT extends WithAStore {

    private static final String RESOURCE = "report";
    private static final Duration MAX_WAIT = Duration.ofMillis(500);

    /** A1: the message may be of the server before, whose clock was ahead; the place is then of the next one. */
    @Test
    void givenAMessageOvertakesARequest_whenThatFails_thenItIsAHintAlone() throws Exception {
        granted(store.save(exclusive(Key.of(RESOURCE))));
        KeyNames names = new KeyNames("lock:");
        RedisClient client = RedisClient.create(server.dsn());
        Connections connections = Connections.of(client);
        ScriptRunner runner = new ScriptRunner(connections, new Failures("server", names), TimeLimits.LIMIT);
        WaiterRegistry waiters = new WaiterRegistry(runner, "1", names, new ForcedReleases(names), new KeptHolds());
        LazyNotificationChannel inbox =
                new LazyNotificationChannel(connections, names, waiters, "server", TimeLimits.LIMIT);
        try {
            Requests requests = new Requests(names, Duration.ofMinutes(1), "1");
            LockAttempt attempt = new LockAttempt(requests, exclusive(Key.of(RESOURCE)), waiters.newAttempt());
            LocalQueues.Place alone = new LocalQueues(LocalQueues.AT_HOME).place(attempt);
            QueuedAcquire wait = new QueuedAcquire(runner, attempt, inbox, alone, MAX_WAIT);
            assertThat(wait.join()).as("to ask now").isTrue();
            CompletableFuture<List<Long>> answer = new CompletableFuture<>();
            SharedConnection link = runner.link();
            wait.sent(new ScriptRunner.Sent(
                    wait.nextRequest(), link.session(RESOURCE), link.generation(), System.nanoTime(), answer));
            long ahead = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()) + TimeUnit.HOURS.toMicros(1);
            wait.granted(new Grant(ahead, 60_000, 1, OptionalLong.empty()));
            answer.completeExceptionally(new RedisConnectionException("lost"));

            Response response = wait.await();
            wait.leave();

            assertThat(response).isInstanceOf(Response.Conflicted.class);
            assertThat(keys.waiting()).isEmpty();
        } finally {
            inbox.close(TimeLimits.LIMIT);
            runner.close();
            client.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }
}
