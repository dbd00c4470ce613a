package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.spi.KeptHolds;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.TimeLimits;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** The part of a store that waits and releases. Its waiters are at home for as long as they like, so that a test finds them there. */
final class StoreWithHome implements AutoCloseable, BackgroundWait.Waiting {

    private static final Duration AS_LONG_AS_THEY_LIKE = Duration.ofHours(1);
    private static final KeyNames NAMES = new KeyNames("lock:");

    private final RedisClient client;
    private final ScriptRunner runner;
    private final Requests requests;
    private final WaiterRegistry waiters;
    private final QueuedAcquires acquires;
    private final Releases releases;

    StoreWithHome(String dsn) {
        client = RedisClient.create(dsn);
        Connections connections = Connections.of(client);
        runner = new ScriptRunner(connections, new Failures("server", NAMES), TimeLimits.LIMIT);
        String id = WaiterRegistry.newId();
        requests = new Requests(NAMES, Duration.ofMinutes(10), id);
        ForcedReleases forced = new ForcedReleases(NAMES);
        waiters = new WaiterRegistry(runner, id, NAMES, forced, new KeptHolds());
        var inbox = new LazyNotificationChannel(connections, NAMES, waiters, "server", runner.limit());
        LocalQueues local = new LocalQueues(AS_LONG_AS_THEY_LIKE);
        acquires = new QueuedAcquires(runner, inbox, waiters, local, new OwnerNames(runner, requests, id));
        releases = new Releases(runner, requests, waiters, local, forced, new KeptHolds());
    }

    Response save(Request request) {
        ScriptRunner.Sent sent = runner.send(requests.acquire(request, 0));
        return ReplyParser.response(runner.answer(sent), request, sent.sinceNanos());
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        try (QueuedAcquires.Begun begun = acquires.begin(attempt(request), maxWait, withdrawn)) {
            return begun.acquire().await();
        }
    }

    CompletableFuture<Response> waitAsync(
            Request request, Duration maxWait, CompletionStage<?> withdrawn, Executor steps) {
        return acquires.start(attempt(request), maxWait, withdrawn, steps);
    }

    private LockAttempt attempt(Request request) {
        return new LockAttempt(requests, request, waiters.newAttempt());
    }

    boolean release(Key key) {
        return releases.release(key);
    }

    @Override
    public void close() {
        acquires.close();
        runner.close();
        client.shutdown(0, 2, TimeUnit.SECONDS);
    }
}
