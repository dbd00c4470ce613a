package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.testkit.Requests;
import dev.latchkey.testkit.TimeLimits;
import java.util.List;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class DsnIT extends OnOneServer {

    /** Each refused DSN left a client of the driver behind, whose threads no store ended. */
    @Test
    void givenOptionsThatAreRefused_whenAnotherStoreIsClosed_thenNoThreadOfTheDriverIsLeft() {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        for (String option : List.of("prefix=%7B", "hash-tag=%7B", "timeout=25h")) {
            assertThatThrownBy(() -> open(server.dsn() + "?" + option)).isInstanceOf(IllegalArgumentException.class);
        }

        try (RedisStore store = open(PatientDsn.redis(server.dsn()))) {
            Requests.granted(store.save(Requests.exclusive(Key.of("r"))));
        }

        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().startsWith("lettuce-") && !before.contains(thread)));
    }
}
