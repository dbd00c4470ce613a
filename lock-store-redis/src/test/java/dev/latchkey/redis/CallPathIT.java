package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The calls between a method of the store and the driver, as ARCHITECTURE.md draws them. */
class CallPathIT {

    private static final String SENDS = "ScriptRunner.send";

    private final RedisClient client = RedisClient.create(RedisServer.sharedDsn());
    private final Key key = Key.of(UUID.randomUUID().toString());
    private final BlockingQueue<List<String>> paths = new LinkedBlockingQueue<>();
    private RedisStore store;

    @BeforeEach
    void open() {
        StatefulRedisConnection<byte[], byte[]> commands = client.connect(ByteArrayCodec.INSTANCE);
        StatefulRedisPubSubConnection<String, String> messages = client.connectPubSub();
        store = RedisStore.builder(noticingCalls(commands), messages)
                .commandTimeout(TimeLimits.LIMIT)
                .build();
        // The server knows the scripts, and the store is connected.
        granted(store.save(exclusive(Key.of(UUID.randomUUID().toString()))));
        paths.clear();
    }

    @AfterEach
    void close() {
        store.close();
        client.shutdown(0, 2, TimeUnit.SECONDS);
    }

    @Test
    void givenAFreeLock_whenTried_thenTwoCalls() {
        granted(store.save(exclusive(key)));

        assertThat(paths).containsExactly(List.of("RedisStore.save", SENDS));
    }

    @Test
    void givenAFreeLock_whenWaitedFor_thenThreeCalls() throws Exception {
        granted(store.waitAndSave(exclusive(key), LONG_TTL, new CompletableFuture<>()));

        assertThat(paths).containsExactly(List.of("RedisStore.waitAndSave", "QueuedAcquires.begin", SENDS));
    }

    @Test
    void givenAHeldLock_whenWaitedFor_thenThreeCallsToAskAgain() throws Exception {
        granted(store.save(exclusive(key)));
        paths.clear();
        Key next = Key.of(key.resource());

        BackgroundCall<Response> waiting =
                BackgroundCall.start(() -> store.waitAndSave(exclusive(next), LONG_TTL, new CompletableFuture<>()));

        assertThat(paths.poll(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .containsExactly("RedisStore.waitAndSave", "QueuedAcquires.begin", SENDS);
        assertThat(paths.poll(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .containsExactly("RedisStore.waitAndSave", "QueuedAcquire.await", SENDS);
        assertThat(store.delete(key)).isTrue();
        granted(waiting.result());
    }

    /** The same connection, which writes down who has called it. */
    @SuppressWarnings("unchecked")
    private StatefulRedisConnection<byte[], byte[]> noticingCalls(StatefulRedisConnection<byte[], byte[]> connection) {
        return (StatefulRedisConnection<byte[], byte[]>) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {StatefulRedisConnection.class}, (proxy, method, args) -> {
                    if (method.getName().equals("dispatch")) {
                        noteCall(callers());
                    }
                    return passedOn(connection, method, args);
                });
    }

    /** Of a call to the store. On a busy machine the store also asks by itself in the meantime, for holds that are 0.4 s old. */
    private void noteCall(List<String> callers) {
        if (callers.get(0).startsWith(RedisStore.class.getSimpleName() + '.')) {
            paths.add(callers);
        }
    }

    private static List<String> callers() {
        String store = RedisStore.class.getPackageName() + '.';
        List<String> callers = StackWalker.getInstance()
                .walk(frames -> frames.filter(frame -> frame.getClassName().startsWith(store)
                                && !frame.getClassName().contains(CallPathIT.class.getSimpleName()))
                        .map(frame -> frame.getClassName().substring(store.length()) + '.' + frame.getMethodName())
                        .collect(Collectors.toCollection(ArrayList::new)));
        Collections.reverse(callers);
        return callers;
    }

    private static @Nullable Object passedOn(Object to, Method method, @Nullable Object @Nullable [] args)
            throws Throwable {
        try {
            return method.invoke(to, args);
        } catch (InvocationTargetException e) {
            throw Objects.requireNonNull(e.getCause());
        }
    }
}
