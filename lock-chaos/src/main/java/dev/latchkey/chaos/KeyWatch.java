package dev.latchkey.chaos;

import dev.latchkey.servers.RedisConnection;
import dev.latchkey.testkit.ServerAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Looks again and again whether a key has no TTL, and would stay for ever. */
final class KeyWatch implements ServerObserver {

    private static final long PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

    private final EventLog log;
    private final AtomicLong looks = new AtomicLong();
    private final Bystander bystander;

    KeyWatch(ServerAddress server, EventLog log) {
        this.log = log;
        this.bystander = new Bystander(server, this::look);
    }

    private void look(RedisConnection connection) {
        String found = withoutTtl(connection);
        looks.incrementAndGet();
        if (!found.isEmpty()) {
            log.violated(Rule.LEFTOVERS, "keys without a TTL: " + found);
        }
        LockSupport.parkNanos(PAUSE_NANOS);
    }

    /** The names of such keys. */
    static String withoutTtl(RedisConnection connection) {
        return keys(connection, "redis.call('PTTL', key) == -1");
    }

    /** The names of queues in which somebody stands. */
    static String queues(RedisConnection connection) {
        return keys(connection, "redis.call('TYPE', key).ok == 'zset'");
    }

    private static String keys(RedisConnection connection, String condition) {
        String look = "local found = {} for _, key in ipairs(redis.call('KEYS', '*')) do if " + condition
                + " then found[#found + 1] = key end end return table.concat(found, ' ')";
        return connection.text("EVAL", look, "0");
    }

    @Override
    public void close() {
        bystander.close();
        log.compared(Rule.LEFTOVERS, looks.get());
    }
}
