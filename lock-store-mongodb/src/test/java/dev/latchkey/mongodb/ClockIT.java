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
import java.util.OptionalLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The server's clock decides, and the client's does not matter: not even when they differ by an hour. */
class ClockIT {

    private static final Duration BRIEF = TimeLimits.ttl(Duration.ofSeconds(4));

    @ParameterizedTest
    @ValueSource(strings = {"PT1H", "PT-1H"})
    void givenTheServersClockIsWrong_whenALeaseRuns_thenItIsAsLongAsItShouldBe(String offset) throws Exception {
        try (MongoDbServer server = MongoDbServer.startWithClock(Duration.parse(offset));
                LockFactory locks = LockFactory.connect(server.dsn("lock"))) {
            Lock brief = locks.createLock("a", BRIEF).acquire();
            OptionalLong first = brief.fencingToken();
            assertThat(brief.isAcquired()).isTrue();
            assertThat(brief.remainingLifetime().orElseThrow()).isBetween(Duration.ZERO, BRIEF);
            assertThat(locks.createLock("a").tryAcquire()).isFalse();

            Lock next = locks.createLock("a").acquire(TimeLimits.LIMIT);

            assertThat(brief.isExpired()).isTrue();
            assertThat(next.fencingToken().orElseThrow()).isGreaterThan(first.orElseThrow());
        }
    }

    /** A waiter that reckons with the wrong clock would ask at once and always, or an hour late. */
    @ParameterizedTest
    @ValueSource(strings = {"PT1H", "PT-1H"})
    void givenTheServersClockIsWrong_whenAskedWhenToRetry_thenAtTheEndOfTheLease(String offset) throws Exception {
        try (MongoDbServer server = MongoDbServer.startWithClock(Duration.parse(offset));
                MongoDbStore store = MongoDbStore.builder(server.dsn("lock")).build();
                LockFactory locks = new LockFactory(store)) {
            locks.createLock("a", Duration.ofMinutes(10)).acquire();

            Response answer = store.save(Requests.exclusive(Key.of("a")));

            assertThat(((Response.Conflicted) answer).retryAfter())
                    .isBetween(Duration.ofMinutes(9), Duration.ofMinutes(10));
        }
    }
}
