package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.Map;
import org.awaitility.Awaitility;

/** What has to be so after every fault, once all who took part have released or are gone. */
final class Aftermath {

    private static final Duration LIMIT = TimeLimits.LIMIT;

    private final RedisServer server;
    private final String resource;

    Aftermath(RedisServer server, String resource) {
        this.server = server;
        this.resource = resource;
    }

    /**
     * The resource comes free, is given to one alone, with a greater token; and nothing is renewed or left for ever.
     *
     * @param lastToken the greatest seen so far
     * @param longestTtl of any lock that took part
     */
    void check(long lastToken, Duration longestTtl) throws InterruptedException {
        try (LockFactory locks = LockFactory.connect(PatientDsn.redis(server.dsn()))) {
            Lock next = locks.createLock(resource, Duration.ofSeconds(30));
            assertThat(next.tryAcquire(LIMIT)).as("free in the end").isTrue();
            assertThat(next.fencingToken().orElseThrow()).isGreaterThan(lastToken);
            assertThat(locks.createLock(resource).tryAcquire()).isFalse();
            assertThat(locks.createLock(resource).tryAcquireShared()).isFalse();
            assertThat(locks.holders(resource)).hasSize(1);
            assertThat(next.release()).isTrue();
        }
        assertNothingGoesOn(longestTtl);
    }

    /** Nothing is held, nobody waits or renews, and every key ends by itself. */
    void assertNothingGoesOn(Duration longestTtl) {
        RedisKeys keys = new RedisKeys(server);
        assertThat(keys.held()).isEmpty();
        assertThat(keys.waiting()).isEmpty();
        assertThat(keys.withoutTtl()).isEmpty();
        keys.resetCommands();
        // A lock that is still renewed would be at a third of its TTL. What is withdrawn last may come late, but once.
        Awaitility.await()
                .during(longestTtl.dividedBy(2))
                .atMost(longestTtl.plus(LIMIT))
                .untilAsserted(() -> {
                    Map<String, Long> commands = keys.commands();
                    keys.resetCommands();
                    assertThat(commands).doesNotContainKey("evalsha");
                });
    }
}
