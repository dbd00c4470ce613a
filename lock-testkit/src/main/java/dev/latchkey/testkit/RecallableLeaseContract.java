package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.StickyRequests.claiming;
import static dev.latchkey.testkit.StickyRequests.sticky;
import static dev.latchkey.testkit.StickyRequests.token;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Holds that are kept and end with their TTL: for a {@link RecallableStore} that is an {@link ExpiringStore}. */
@ContractFor({RecallableStore.class, ExpiringStore.class})
public interface RecallableLeaseContract extends RecallableStoreContract, ExpiringStoreContract {

    @Test
    default void givenAStickyHold_whenItIsRefreshed_thenItIsNotRecalledAndTheTokenStays(Fixture fixture) {
        ExpiringStore store = fixture.store(ExpiringStore.class);
        Key key = fixture.key();
        Response.Granted granted = granted(store.save(sticky(key)));
        long token = granted.fencingToken().orElseThrow();

        assertThat(token(store.refresh(sticky(claiming(key, token))))).isEqualTo(token);

        assertThat(granted.lease().recalled().orElseThrow().toCompletableFuture())
                .isNotDone();
        assertThat(token(store.refresh(sticky(claiming(key, token + 7))))).isEqualTo(token + 7);
    }

    @Test
    default void givenATokenOutsideOfTheRange_whenItIsClaimed_thenLost(Fixture fixture) {
        ExpiringStore store = fixture.store(ExpiringStore.class);
        Key key = fixture.key();
        Request request = sticky(key);
        long first = token(store.save(request));
        granted(store.refresh(sticky(claiming(key, first + 7))));

        assertThat(store.refresh(sticky(claiming(key, first + 6)))).isInstanceOf(Response.Lost.class);
        assertThat(store.refresh(sticky(claiming(key, first + 7 + request.reservedTokens() + 1))))
                .isInstanceOf(Response.Lost.class);
    }

    /** A renewal that claims an older token may come late: what was used since was reserved before. */
    @Test
    default void givenARenewalWithAShorterTtl_whenTheHolderIsGone_thenWhatWasReservedBeforeIsNotGranted(
            Fixture fixture) {
        ExpiringStore store = fixture.store(ExpiringStore.class);
        Key key = fixture.key();
        Request request = sticky(key);
        long first = token(store.save(request));
        Request shorter = new Request(
                claiming(key, first),
                LockMode.EXCLUSIVE,
                Fixture.LONG_TTL.dividedBy(2),
                RetryIntent.ONCE,
                LeaseChange.SET,
                "",
                Duration.ofMillis(1));
        granted(store.refresh(shorter));

        assertThat(store.delete(key)).isTrue();

        assertThat(token(store.save(exclusive(fixture.key())))).isGreaterThan(first + request.reservedTokens());
    }

    /** A holder that died may have used all of them. */
    @Test
    @Tag("slow")
    default void givenAStickyHoldExpired_whenAnotherAcquires_thenItsTokenIsGreaterThanAllThatWereReserved(
            Fixture fixture) {
        ExpiringStore store = fixture.store(ExpiringStore.class);
        Key key = fixture.key();
        Request request = sticky(key, shortTtl());
        long first = token(store.save(request));
        fixture.awaitExpiry(key);

        long next = Awaitility.await("the resource to be free")
                                .pollInterval(Duration.ofMillis(10))
                                .atMost(TimeLimits.LIMIT)
                                .until(() -> store.save(exclusive(fixture.key())), Response.Granted.class::isInstance)
                        instanceof Response.Granted granted
                ? granted.fencingToken().orElseThrow()
                : 0;

        assertThat(next).isGreaterThan(first + request.reservedTokens());
    }
}
