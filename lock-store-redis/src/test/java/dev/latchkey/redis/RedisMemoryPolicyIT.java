package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.testkit.Requests;
import dev.latchkey.testkit.TimeLimits;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A3, F14: a server that evicts keys may evict locks and state indexes. */
class RedisMemoryPolicyIT extends OnOneServer {

    private static final String WARNING = "lock.eviction_allowed";

    private final PrintStream before = System.err;
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();

    @BeforeEach
    void listen() {
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void listenNoLonger() {
        System.setErr(before);
        configure("0", "noeviction");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "volatile-lru",
                "volatile-lfu",
                "volatile-random",
                "volatile-ttl",
                "allkeys-lru",
                "allkeys-lfu",
                "allkeys-random"
            })
    void givenAPolicyThatEvictsLocks_whenConnected_thenOneWarningNamesIt(String policy) {
        configure("100mb", policy);
        try (RedisStore store = open(PatientDsn.redis(server.dsn()))) {
            Requests.granted(store.save(Requests.exclusive(Key.of("one"))));
            Requests.granted(store.save(Requests.exclusive(Key.of("two"))));

            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .untilAsserted(
                            () -> assertThat(log()).containsOnlyOnce(WARNING).contains(policy, "noeviction"));
        }
    }

    @Test
    void givenAPolicyThatEvictsLocks_whenConnectedAgain_thenItIsNotWarnedOfAgain() {
        configure("100mb", "volatile-lru");
        try (RedisClient client = RedisClient.create(server.dsn())) {
            Connections connections = MemoryPolicy.WARN.watching(Connections.of(client), "it", TimeLimits.LIMIT);
            for (int i = 0; i < 3; i++) {
                var open = (StatefulRedisConnection<?, ?>) connections.commands();
                // Answers come in order: the policy has been read by then.
                assertThat(open.sync().ping()).isEqualTo("PONG");
            }

            assertThat(log()).containsOnlyOnce(WARNING);
        }
    }

    @ParameterizedTest
    @CsvSource({"100mb,noeviction", "0,allkeys-lru"})
    void givenNothingIsEvicted_whenConnectedStrictly_thenLocksAreGrantedWithoutAWarning(String memory, String policy) {
        configure(memory, policy);
        try (RedisStore store = open(PatientDsn.redis(server.dsn() + "?strict=true"))) {
            Requests.granted(store.save(Requests.exclusive(Key.of("r"))));
        }

        assertThat(log()).doesNotContain(WARNING);
    }

    @Test
    void givenAPolicyThatEvictsLocksAndStrict_whenAcquired_thenRefusedUntilItIsChanged() {
        configure("100mb", "volatile-lru");
        try (RedisStore store = open(PatientDsn.redis(server.dsn() + "?strict=true"))) {
            assertThatThrownBy(() -> store.save(Requests.exclusive(Key.of("r"))))
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            refused -> assertThat(refused.failure()).isEqualTo(LockStorageException.Failure.NOT_SENT))
                    .hasMessageContaining("volatile-lru")
                    .hasMessageContaining("noeviction");
            assertThat(server.call("EXISTS", "lock:{r}")).isEqualTo(0L);

            configure("100mb", "noeviction");

            Requests.granted(store.save(Requests.exclusive(Key.of("r"))));
        }
    }

    @Test
    void givenNoRightToLookAndStrict_whenAcquired_thenRefusedAndWithoutStrictGranted() {
        Rights.give(server, "blind", "~lock:* " + Rights.SCRIPTS.replace(" +info", ""));
        String dsn = "redis://" + Rights.login("blind") + "@" + server.address();
        try (RedisStore strict = open(PatientDsn.redis(dsn + "?strict=true"));
                RedisStore store = open(PatientDsn.redis(dsn))) {
            assertThatThrownBy(() -> strict.save(Requests.exclusive(Key.of("r"))))
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("+info");

            Requests.granted(store.save(Requests.exclusive(Key.of("r"))));
        }
    }

    private static void configure(String memory, String policy) {
        server.call("CONFIG", "SET", "maxmemory-policy", policy);
        server.call("CONFIG", "SET", "maxmemory", memory);
    }

    private String log() {
        return written.toString(StandardCharsets.UTF_8);
    }
}
