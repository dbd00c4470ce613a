package dev.latchkey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TtlTest {

    private final LockFactory locks = new LockFactory(new InMemoryStore());

    static Stream<Duration> outOfRange() {
        return Stream.of(
                Duration.ZERO,
                Duration.ofSeconds(-1),
                Duration.ofNanos(1),
                Duration.ofMillis(2),
                Duration.ofDays(36_501),
                Duration.ofSeconds(Long.MAX_VALUE),
                ChronoUnit.FOREVER.getDuration());
    }

    static Stream<Duration> inRange() {
        return Stream.of(Duration.ofMillis(1_500), Duration.ofDays(31), Duration.ofDays(36_500));
    }

    @ParameterizedTest
    @MethodSource("outOfRange")
    void givenTtlOutOfRange_thenRefusedWithTheRange(Duration ttl) {
        Lock lock = locks.createLock("x");
        Key key = Key.of("x");

        Stream.<Runnable>of(
                        () -> locks.createLock("x", ttl),
                        () -> locks.createLock(key, ttl),
                        () -> locks.lock("x").ttl(ttl),
                        () -> lock.refresh(ttl))
                .forEach(call -> assertThatIllegalArgumentException()
                        .isThrownBy(call::run)
                        .withMessageStartingWith("a TTL of " + ttl)
                        .withMessageContaining("PT0.003S"));
    }

    @ParameterizedTest
    @MethodSource("inRange")
    void givenTtlInRange_thenAcceptedAndBelievedALittleLess(Duration ttl) {
        Lock lock = locks.createLock("x", ttl);

        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.remainingLifetime().orElseThrow())
                .isLessThan(ttl.multipliedBy(99).dividedBy(100));
        lock.close();
    }

    @Test
    void givenShortestTtl_thenAccepted() {
        assertThat(locks.createLock("x", Duration.ofMillis(3))).isNotNull();
    }

    @Test
    @SuppressWarnings("NullAway")
    void givenNullTtl_thenTheErrorSaysWhatToDo() {
        assertThatExceptionOfType(NullPointerException.class)
                .isThrownBy(() -> locks.createLock("x", null))
                .withMessageContaining("ttl must not be null: leave it out");
    }

    @Test
    void givenNegativeMaxWait_thenRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> locks.createLock("x").acquire(Duration.ofNanos(-1)))
                .withMessageContaining("is negative: zero tries once");
    }

    @Test
    void givenEnormousMaxWait_thenItMeansForEver() throws Exception {
        try (Lock lock = locks.createLock("x").acquire(ChronoUnit.FOREVER.getDuration())) {
            assertThat(lock.isAcquired()).isTrue();
        }
    }
}
