package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Capability;
import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockBuilder;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Bad TTLs, waits and names: one clear error, nothing written, nothing changed. */
public interface BadInputContract extends StoreContract {

    /**
     * Returns TTLs that no store can keep.
     *
     * @return durations
     */
    static Stream<Duration> badTtls() {
        return Stream.of(
                Duration.ZERO,
                Duration.ofNanos(1),
                Duration.ofMillis(-1),
                Duration.ofSeconds(Long.MIN_VALUE),
                Duration.ofDays(36_501),
                Duration.ofSeconds(Long.MAX_VALUE));
    }

    /**
     * Returns TTLs that some store cannot keep: it says so, or keeps them exactly.
     *
     * @return durations
     */
    static Stream<Duration> enormousTtls() {
        return Stream.of(
                Duration.ofSeconds(2_592_000),
                Duration.ofSeconds(2_592_001),
                Duration.ofMillis(Integer.MAX_VALUE).plusMillis(1),
                Duration.ofSeconds(Integer.MAX_VALUE),
                Duration.ofDays(36_500));
    }

    @ParameterizedTest
    @MethodSource("dev.latchkey.testkit.BadInputContract#badTtls")
    default void givenBadTtl_whenLockIsMade_thenIllegalArgument(Duration ttl, Fixture fixture) {
        assertThatThrownBy(() -> fixture.lock(ttl))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(ttl.toString());
    }

    /** A lock that silently did without would look as if it worked. */
    @Test
    default void givenStickyIsAskedFor_whenLockIsMade_thenItIsRefusedUnlessTheStoreCanRecall(Fixture fixture) {
        LockBuilder sticky = fixture.locks().lock(fixture.resource()).sticky(Duration.ofSeconds(1));

        if (fixture.locks().supports(Capability.STICKY)) {
            assertThat(sticky.create().isAcquired()).isFalse();
        } else {
            assertThatThrownBy(sticky::create)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("cannot recall")
                    .hasMessageContaining("Capability.STICKY");
        }
    }

    @Test
    default void givenNoTtl_whenLockIsMade_thenNullPointer(Fixture fixture) {
        @Nullable Duration ttl = null;

        assertThatThrownBy(() -> lockWith(fixture, ttl))
                .isInstanceOf(NullPointerException.class)
                .hasMessageContaining("ttl");
    }

    @ParameterizedTest
    @MethodSource("dev.latchkey.testkit.BadInputContract#badTtls")
    default void givenHeld_whenRefreshedWithBadTtl_thenIllegalArgumentAndHeldStill(Duration ttl, Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();

        assertThatThrownBy(() -> lock.refresh(ttl)).isInstanceOf(IllegalArgumentException.class);

        assertThat(lock.isExpired()).isFalse();
        assertThat(lock.isAcquired()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("dev.latchkey.testkit.BadInputContract#enormousTtls")
    @Tag("slow")
    default void givenEnormousTtl_whenSaved_thenHeldForThatLongOrNothingWritten(Duration ttl, Fixture fixture) {
        Key key = fixture.key();
        Response response;
        try {
            response = fixture.store().save(exclusive(key, ttl));
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining(ttl.toString());
            assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
            return;
        }

        assertThat(response).isInstanceOf(Response.Granted.class);
        assertThat(fixture.store().find(key)).isPresent();
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
        assertThat(fixture.store().delete(key)).isTrue();
    }

    @Test
    default void givenShortestTtl_whenAcquired_thenTheOutcomeIsOneOfThoseAllowedAndNothingStays(Fixture fixture) {
        Lock lock = fixture.lock(Duration.ofMillis(3));
        try {
            // False: it was granted, but over before the answer came, and given back.
            boolean acquired = lock.tryAcquire();
            assertThat(acquired || !lock.isAcquired()).isTrue();
        } catch (IllegalArgumentException tooShort) {
            assertThat(lock.isAcquired()).isFalse();
        }

        lock.release();

        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenNegativeMaxWait_whenAcquire_thenIllegalArgumentAndNothingTaken(Fixture fixture) {
        Lock lock = fixture.lock();

        assertThatThrownBy(() -> lock.acquire(Duration.ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT-0.000000001S");
        assertThatThrownBy(() -> lock.tryAcquire(Duration.ofDays(-1))).isInstanceOf(IllegalArgumentException.class);

        assertThat(lock.isAcquired()).isFalse();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenNameTooLong_whenLockIsMade_thenIllegalArgument(Fixture fixture) {
        String name = "k".repeat(Key.MAX_RESOURCE_BYTES + 1);

        assertThatThrownBy(() -> fixture.locks().createLock(name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(Integer.toString(Key.MAX_RESOURCE_BYTES));
    }

    @Test
    default void givenLongestName_whenAcquired_thenHeld(Fixture fixture) {
        String name = fixture.resource()
                + "k".repeat(Key.MAX_RESOURCE_BYTES - fixture.resource().length());
        Lock lock = fixture.locks().createLock(name);

        boolean acquired = lock.tryAcquire();

        assertThat(acquired).isTrue();
        assertThat(fixture.locks().createLock(name).tryAcquire()).isFalse();
    }

    @Test
    default void givenUnpairedSurrogate_whenLockIsMade_thenIllegalArgument(Fixture fixture) {
        assertThatThrownBy(() -> fixture.locks().createLock("half\uD83D"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("surrogate");
    }

    @SuppressWarnings("NullAway")
    private static Lock lockWith(Fixture fixture, @Nullable Duration ttl) {
        return fixture.lock(ttl);
    }
}
