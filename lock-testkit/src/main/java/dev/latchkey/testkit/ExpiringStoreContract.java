package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A hold ends by itself when its TTL is over, and {@code refresh} starts the TTL again without ever acquiring: for an
 * {@link ExpiringStore}.
 */
@ContractFor(ExpiringStore.class)
public interface ExpiringStoreContract
        extends LeaseContract, LeaseRefreshContract, LeaseChangeContract, ExpiredHoldContract, FullPoolsContract {

    @Test
    default void givenExpiringStore_whenAskedForTheCapability_thenItHasIt(Fixture fixture) {
        assertThat(fixture.store().capability(ExpiringStore.class)).isPresent();
    }

    /** F2: the TTL asked for counts from the very grant, with no second call. */
    @Test
    @Tag("slow")
    default void givenSavedWithAShortTtl_whenItIsOver_thenGoneAndFree(Fixture fixture) {
        Key key = fixture.key();
        granted(fixture.store().save(exclusive(key, shortTtl())));

        fixture.awaitExpiry(key);

        fixture.takeOver(fixture.key());
    }

    @Test
    default void givenGranted_whenItsLeaseIsLookedAt_thenItBeganBetweenCallAndAnswer(Fixture fixture) {
        long before = System.nanoTime();

        Response.Granted granted = granted(fixture.store().save(exclusive(fixture.key())));

        long since = granted.lease().since().orElseThrow();
        assertThat(since - before).isNotNegative();
        assertThat(System.nanoTime() - since).isNotNegative();
        assertThat(granted.lease().ttl()).isGreaterThanOrEqualTo(LONG_TTL);
    }

    @Test
    default void givenSaved_whenFound_thenItsLeaseEndsNoLaterThanGranted(Fixture fixture) {
        Key key = fixture.key();
        Response.Granted saved = granted(fixture.store().save(exclusive(key)));
        // The server counts from when the request came, which may have taken as long.
        long took = System.nanoTime() - saved.lease().since().orElseThrow();

        Response.Granted found = fixture.store().find(key).orElseThrow();

        assertThat(endNanos(found) - endNanos(saved))
                .as("nanoseconds that find promises beyond what save promised")
                .isLessThanOrEqualTo(Duration.ofSeconds(1).toNanos() + took);
        assertThat(found.lease().ttl())
                .isPositive()
                .isLessThanOrEqualTo(saved.lease().ttl());
    }

    @Test
    default void givenConflict_whenAskedWhenToRetry_thenNotAfterTheHoldersLease(Fixture fixture) {
        granted(fixture.store().save(exclusive(fixture.key(), LONG_TTL)));

        Response response = fixture.store().save(exclusive(fixture.key()));

        assertThat(response)
                .isInstanceOfSatisfying(
                        Response.Conflicted.class,
                        conflict ->
                                assertThat(conflict.retryAfter()).isBetween(Duration.ZERO, LONG_TTL.plusSeconds(1)));
    }

    /** F1: a renewal that was overtaken by a promotion demoted it. */
    @Test
    default void givenHeldExclusively_whenARefreshForASharedHoldComesLate_thenItStaysExclusive(Fixture fixture) {
        Key key = fixture.key();
        Response.Granted held = granted(fixture.store().save(exclusive(key)));
        Key late = key.claiming(Optional.of(new Key.Held(LockMode.SHARED, OptionalLong.empty())));

        Response unused = fixture.store(ExpiringStore.class).refresh(Requests.shared(late));

        Response.Granted found = fixture.store().find(key).orElseThrow();
        assertThat(found.mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(found.fencingToken()).isEqualTo(held.fencingToken());
    }

    @Test
    default void givenHeld_whenRefreshed_thenModeAndTokenStay(Fixture fixture) {
        Key key = fixture.key();
        Response.Granted saved = granted(fixture.store().save(exclusive(key)));

        Response.Granted refreshed =
                granted(fixture.store(ExpiringStore.class).refresh(exclusive(holding(key, saved))));

        assertThat(refreshed.mode()).isEqualTo(saved.mode());
        assertThat(refreshed.fencingToken()).isEqualTo(saved.fencingToken());
    }

    /** F18, F19: a refresh of a lock that was never held acquired it, or said that all was well. */
    @Test
    default void givenNeverHeld_whenRefreshed_thenLostAndNothingTaken(Fixture fixture) {
        Key key = fixture.key();

        Response response = fixture.store(ExpiringStore.class).refresh(exclusive(key));

        assertThat(response).isInstanceOf(Response.Lost.class);
        assertThat(fixture.store().find(key)).isEmpty();
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenHeldByOther_whenRefreshed_thenLostAndHolderHolds(Fixture fixture) {
        Key holder = fixture.key();
        granted(fixture.store().save(exclusive(holder)));

        Response response = fixture.store(ExpiringStore.class).refresh(exclusive(fixture.key()));

        assertThat(response).isInstanceOf(Response.Lost.class);
        assertThat(fixture.store().find(holder)).isPresent();
    }

    /** A refusal must not prolong anything. */
    @Test
    @Tag("slow")
    default void givenRivalsAreRefused_whenTheTtlIsOver_thenTheHoldEndsInTime(Fixture fixture) {
        Key key = fixture.key();
        granted(fixture.store().save(exclusive(key, Leases.ROOMY_TTL)));
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);

        Awaitility.await()
                .atMost(Leases.ROOMY_TTL.plus(TimeLimits.LIMIT))
                .until(() -> fixture.store().save(exclusive(fixture.key())) instanceof Response.Granted);

        assertThat(fixture.store().find(key)).isEmpty();
    }

    private static long endNanos(Response.Granted granted) {
        return granted.lease().since().orElseThrow() + granted.lease().ttl().toNanos();
    }
}
