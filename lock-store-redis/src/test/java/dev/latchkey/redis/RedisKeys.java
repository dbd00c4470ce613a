package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.servers.RedisServer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** What a test sees on the server, past the store. */
final class RedisKeys {

    private static final String LUA_PREFIX = "lock:*";

    private final RedisServer server;

    RedisKeys(RedisServer server) {
        this.server = server;
    }

    /** The store's keys that would stay for ever. */
    List<String> withoutTtl() {
        return strings(server.call(
                "EVAL",
                "local found = {} for _, key in ipairs(redis.call('KEYS', ARGV[1])) do "
                        + "if redis.call('PTTL', key) == -1 then found[#found + 1] = key end end return found",
                "0",
                LUA_PREFIX));
    }

    List<String> all() {
        return strings(server.call("KEYS", LUA_PREFIX));
    }

    /** The states with a live holder, each as {@code key: state}. */
    List<String> held() {
        return strings(server.call(
                "EVAL",
                "local found, time = {}, redis.call('TIME') local now = time[1] * 1000000 + time[2] "
                        + "for _, key in ipairs(redis.call('KEYS', ARGV[1])) do "
                        + "if redis.call('TYPE', key).ok == 'string' then local state = redis.call('GET', key) "
                        + "for us, ms in string.gmatch(state, ' [^: ]+:(%d+):(%d+):') do "
                        + "if us + 1000 * ms > now then found[#found + 1] = key .. ': ' .. state end end end end "
                        + "return found",
                "0",
                LUA_PREFIX));
    }

    /** Those who stand in a queue, each as it stands there. */
    List<String> waiting() {
        return strings(server.call(
                "EVAL",
                "local found = {} for _, key in ipairs(redis.call('KEYS', ARGV[1])) do "
                        + "if redis.call('TYPE', key).ok == 'zset' then "
                        + "for _, waiter in ipairs(redis.call('ZRANGE', key, 0, -1)) do "
                        + "found[#found + 1] = key .. ': ' .. waiter end end end return found",
                "0",
                LUA_PREFIX));
    }

    /** Those of them who can be sent messages; the first of a store polls until its store has subscribed. */
    List<String> listening() {
        return waiting().stream().filter(waiter -> !waiter.endsWith(" 0")).toList();
    }

    /** What is held for a while has its store subscribe, which takes another connection. */
    void awaitSubscribed() {
        Awaitility.await().until(() -> subscriptions() > 0);
    }

    /**
     * Has the store of a Lock subscribe, as one does once it has held something for a while, and returns when the server has
     * answered what is asked about that hold then: later, it would be among what a test counts. For a store that has held nothing
     * for a while yet.
     */
    void subscribe(Lock lock) {
        // The server learns this script again from that question.
        server.call("SCRIPT", "FLUSH");
        String find = new String(Script.FIND.digest(), StandardCharsets.US_ASCII);
        assertThat(lock.tryAcquire()).isTrue();
        Awaitility.await().until(() -> Objects.equals(server.call("SCRIPT", "EXISTS", find), List.of(1L)));
        assertThat(lock.release()).isTrue();
    }

    /** How many stores have subscribed. */
    long subscriptions() {
        return server.call("PUBSUB", "CHANNELS", "lock:in:*") instanceof List<?> found ? found.size() : 0;
    }

    /** How often the server has executed each command since its statistics were reset, those of scripts among them. */
    Map<String, Long> commands() {
        Map<String, Long> calls = new TreeMap<>();
        server.text("INFO", "commandstats")
                .lines()
                .filter(line -> line.startsWith("cmdstat_"))
                .forEach(line -> calls.put(
                        line.substring("cmdstat_".length(), line.indexOf(':')),
                        Long.parseLong(line.substring(line.indexOf("calls=") + "calls=".length(), line.indexOf(',')))));
        calls.remove("info");
        calls.remove("config|resetstat");
        return calls;
    }

    /** How many scripts it has run; one that it has not seen yet is sent as a whole. */
    long scripts() {
        Map<String, Long> commands = commands();
        return commands.getOrDefault("evalsha", 0L) + commands.getOrDefault("eval", 0L);
    }

    void resetCommands() {
        server.call("CONFIG", "RESETSTAT");
    }

    private static List<String> strings(@Nullable Object answer) {
        if (answer instanceof List<?> list) {
            return list.stream().map(String::valueOf).toList();
        }
        throw new AssertionError("expected a list, but the server answered " + answer);
    }
}
