package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import org.awaitility.Awaitility;

/** How far a replica has come. {@code WAIT} looks at the writes of its own connection alone. */
final class Replication {

    private static final Duration LIMIT = TimeLimits.LIMIT;

    private Replication() {}

    /** Returns once the replica has all that its master has written until now. */
    static void awaitInStep(RedisServer master, RedisServer replica) {
        long written = offset(master, "master_repl_offset:");
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(
                        () -> assertThat(offset(replica, "slave_repl_offset:")).isGreaterThanOrEqualTo(written));
    }

    private static long offset(RedisServer server, String field) {
        return server.text("INFO", "replication")
                .lines()
                .filter(line -> line.startsWith(field))
                .mapToLong(line -> Long.parseLong(line.substring(field.length()).trim()))
                .findFirst()
                .orElseThrow();
    }
}
