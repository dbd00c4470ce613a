package dev.latchkey.examples;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.StoreProvider;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/**
 * A small store, built step by step in {@code docs/writing-a-store.md}: a Redis string for each lock, with the token of its
 * holder and a TTL. Everything else, such as waiting and renewing, is the core's. For real work there is
 * {@code dev.latchkey.redis.RedisStore}, which can do more.
 */
public final class PlainRedisStore implements ExpiringStore {

    private static final Duration TIMEOUT = Duration.ofSeconds(3);
    private static final Duration QUIET = Duration.ofMillis(100);

    /** ARGV: token, TTL in ms, whether it claims to hold, lease change. Returns {granted or not, what is left of another's lease}. */
    private static final String SAVE = """
            local holder = redis.call('GET', KEYS[1])
            if holder == ARGV[1] or (not holder and ARGV[3] == 'new') then
                local left = ARGV[4] == 'EXTEND' and redis.call('PTTL', KEYS[1]) or 0
                redis.call('SET', KEYS[1], ARGV[1], 'PX', math.max(tonumber(ARGV[2]), left))
                return {1, 0}
            end
            return {0, redis.call('PTTL', KEYS[1])}""";

    private static final String DELETE = """
            if redis.call('GET', KEYS[1]) == ARGV[1] then
                return {redis.call('DEL', KEYS[1]), 0}
            end
            return {0, 0}""";

    private static final String FIND = """
            if redis.call('GET', KEYS[1]) == ARGV[1] then
                return {1, redis.call('PTTL', KEYS[1])}
            end
            return {0, 0}""";

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;

    /**
     * Connects.
     *
     * @param uri as {@code redis://localhost:6379}
     */
    public PlainRedisStore(String uri) {
        client = RedisClient.create(uri);
        connection = client.connect();
    }

    @Override
    public Response save(Request request) {
        boolean claims = request.key().held().isPresent();
        long before = System.nanoTime();
        String change = request.leaseChange().name();
        Answer answer = run(SAVE, request.key(), millis(request.ttl()), claims ? "claims" : "new", change);
        if (answer.yes()) {
            return granted(before, request.ttl());
        }
        if (claims) {
            return new Response.Lost(answer.left() > 0 ? LossReason.TAKEN_OVER : LossReason.EXPIRED);
        }
        return new Response.Conflicted(Duration.ofMillis(Math.max(0, answer.left())));
    }

    @Override
    public boolean delete(Key key) {
        return run(DELETE, key).yes();
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        long before = System.nanoTime();
        Answer answer = run(FIND, key);
        return answer.yes() ? Optional.of(granted(before, Duration.ofMillis(answer.left()))) : Optional.empty();
    }

    @Override
    public Response refresh(Request request) {
        Key holder = request.key().claiming(Optional.of(new Key.Held(request.mode(), OptionalLong.empty())));
        return save(request.with(holder));
    }

    @Override
    public void close() {
        // Without a quiet period the driver's threads may end before they have given their sockets back.
        client.shutdown(QUIET, TIMEOUT);
    }

    private static Response.Granted granted(long before, Duration ttl) {
        return new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.empty(), Lease.timed(before, ttl));
    }

    /** Rounded up: the server must not end a hold before the holder believes it does. */
    private static String millis(Duration ttl) {
        return Long.toString(ttl.plusNanos(999_999).toMillis());
    }

    private Answer run(String script, Key key, String... arguments) {
        String[] values = new String[arguments.length + 1];
        values[0] = key.token();
        System.arraycopy(arguments, 0, values, 1, arguments.length);
        String[] keys = {"plain:" + key.resource()};
        try {
            // Interrupted, join() waits on and keeps the flag: what came of the request must be known.
            return Answer.of(connection
                    .async()
                    .<List<Long>>eval(script, ScriptOutputType.MULTI, keys, values)
                    .toCompletableFuture()
                    .orTimeout(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
                    .join());
        } catch (CompletionException e) {
            throw new LockStorageException(key.resource(), "Redis failed or did not answer", e.getCause());
        }
    }

    private record Answer(boolean yes, long left) {
        static Answer of(List<Long> reply) {
            return new Answer(reply.get(0) == 1, reply.get(1));
        }
    }

    /** Opens {@code plain-redis://host:port}. */
    public static final class Provider implements StoreProvider {

        /** For {@link java.util.ServiceLoader}. */
        public Provider() {}

        @Override
        public Set<String> schemes() {
            return Set.of("plain-redis");
        }

        @Override
        public PersistingStore open(String dsn) {
            return new PlainRedisStore(dsn.substring("plain-".length()));
        }
    }
}
