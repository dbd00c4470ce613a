package dev.latchkey.mongodb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.Requests;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The server's clock decides, and the client's does not matter: not even when they differ by an hour. */
class ClockIT {

    private static final Duration BRIEF = TimeLimits.ttl(Duration.ofSeconds(4));
    private static final Duration LONG = Duration.ofMinutes(10);

    @ParameterizedTest
    @ValueSource(strings = {"PT1H", "PT-1H"})
    void givenTheServersClockIsWrong_whenALeaseRuns_thenItIsAsLongAsItShouldBe(String offset) throws Exception {
        try (MongoDbServer server = MongoDbServer.startWithClock(Duration.parse(offset));
                LockFactory locks = LockFactory.connect(server.dsn("lock"))) {
            Lock held = locks.createLock("a", LONG).acquire();
            long first = held.fencingToken().orElseThrow();
            assertThat(held.isAcquired()).isTrue();
            assertThat(held.remainingLifetime().orElseThrow()).isBetween(Duration.ZERO, LONG);
            assertThat(locks.createLock("a").tryAcquire()).isFalse();
            assertThat(held.release()).isTrue();
            Lock brief = locks.createLock("a", BRIEF).acquire();

            Lock next = locks.createLock("a").acquire(TimeLimits.LIMIT);

            assertThat(brief.isExpired()).isTrue();
            assertThat(next.fencingToken().orElseThrow()).isGreaterThan(first);
        }
    }

    /** A waiter that reckons with the wrong clock would ask at once and always, or an hour late. */
    @ParameterizedTest
    @ValueSource(strings = {"PT1H", "PT-1H"})
    void givenTheServersClockIsWrong_whenAskedWhenToRetry_thenAtTheEndOfTheLease(String offset) throws Exception {
        try (MongoDbServer server = MongoDbServer.startWithClock(Duration.parse(offset));
                MongoDbStore store = MongoDbStore.builder(server.dsn("lock")).build();
                LockFactory locks = new LockFactory(store)) {
            locks.createLock("a", LONG).acquire();

            Response answer = store.save(Requests.exclusive(Key.of("a")));

            assertThat(((Response.Conflicted) answer).retryAfter()).isBetween(LONG.minusMinutes(1), LONG);
        }
    }
}
