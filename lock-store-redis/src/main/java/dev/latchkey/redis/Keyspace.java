package dev.latchkey.redis;

import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.RedisAsyncCommandsImpl;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** What the server has, for people who look into it; on a cluster all masters. */
final class Keyspace {

    private static final int KEYS_AT_ONCE = 1_000;
    private static final Duration PAUSE = Duration.ofMillis(20);

    private final ScriptRunner server;
    private final KeyNames names;

    Keyspace(ScriptRunner server, KeyNames names) {
        this.server = server;
        this.names = names;
    }

    /**
     * Returns the first names of resources, in the order of {@link String#compareTo}, also of those that nobody holds any more.
     * SCAN finds every key that is there all the time, if it is one server that is asked all the time: a cursor means nothing
     * to the server after a restart, or to another one.
     *
     * @param after which names come before the first one
     * @param most how many to return at most
     */
    SortedSet<String> resources(String prefix, Optional<String> after, int most) {
        while (true) {
            int before = server.link().generation();
            SortedSet<String> found = scan(prefix, after, most);
            if (server.link().generation() == before) {
                return found;
            }
        }
    }

    private SortedSet<String> scan(String prefix, Optional<String> after, int most) {
        ScanArgs args = ScanArgs.Builder.matches(names.pattern(prefix)).limit(KEYS_AT_ONCE);
        TreeSet<String> found = new TreeSet<>();
        KeyScanCursor<byte[]> cursor = await(prefix, () -> commands().scan(args));
        while (true) {
            for (byte[] key : cursor.getKeys()) {
                names.resource(key)
                        .filter(name -> name.startsWith(prefix))
                        .filter(name ->
                                after.map(last -> name.compareTo(last) > 0).orElse(true))
                        .ifPresent(found::add);
                if (found.size() > most) {
                    found.pollLast();
                }
            }
            if (cursor.isFinished()) {
                return found;
            }
            KeyScanCursor<byte[]> last = cursor;
            cursor = await(prefix, () -> commands().scan(last, args));
        }
    }

    /** Returns the owner names of stores, by their inboxes, as far as they are known. */
    Map<Long, String> owners(String resource, Set<Long> inboxes) {
        Map<Long, RedisFuture<byte[]>> asked = new LinkedHashMap<>();
        inboxes.forEach(inbox -> asked.put(inbox, owner(inbox)));
        Map<Long, String> owners = new HashMap<>();
        asked.forEach((inbox, answer) -> {
            byte[] owner = await(resource, answer, () -> owner(inbox));
            if (owner != null) {
                owners.put(inbox, new String(owner, StandardCharsets.UTF_8));
            }
        });
        return owners;
    }

    private RedisFuture<byte[]> owner(long inbox) {
        return commands().get(names.who(Long.toString(inbox)));
    }

    @SuppressWarnings("unchecked")
    private RedisClusterAsyncCommands<byte[], byte[]> commands() {
        StatefulConnection<byte[], byte[]> open = server.link().connected("");
        if (open instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster) {
            return cluster.async();
        }
        // The connection may be the caller's, with another codec.
        return new RedisAsyncCommandsImpl<>((StatefulRedisConnection<byte[], byte[]>) open, ByteArrayCodec.INSTANCE);
    }

    private <T> T await(String resource, Supplier<RedisFuture<T>> command) {
        return await(resource, command.get(), command);
    }

    /** Waits for an answer, and asks again, until the limit, where the connection failed: to look twice does no harm. */
    private <T> T await(String resource, RedisFuture<T> first, Supplier<RedisFuture<T>> again) {
        long end = System.nanoTime() + server.limit().toNanos();
        RedisFuture<T> answer = first;
        while (true) {
            try {
                return Uninterruptibles.await(answer, server.limit());
            } catch (ExecutionException e) {
                boolean helps = Failures.isPassing(e) || Failures.isConnection(e);
                if (!helps || end - System.nanoTime() <= PAUSE.toNanos()) {
                    throw server.failures().of(resource, e);
                }
                Uninterruptibles.pause(PAUSE);
                answer = again.get();
            } catch (TimeoutException e) {
                answer.cancel(false);
                throw server.noAnswer(resource);
            }
        }
    }
}
