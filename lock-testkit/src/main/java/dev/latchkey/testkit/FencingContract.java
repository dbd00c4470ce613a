package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Response;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every new exclusive hold has a greater number than any before it: for a store that mints fencing tokens. A store that
 * does not joins {@link UnfencedContract}.
 */
@ContractFor(value = PersistingStore.class, unless = UnfencedContract.class)
public interface FencingContract extends StoreContract {

    @Test
    default void givenFree_whenSaved_thenItHasAPositiveToken(Fixture fixture) {
        Response.Granted granted = granted(fixture.store().save(exclusive(fixture.key())));

        assertThat(granted.fencingToken()).isPresent();
        assertThat(granted.fencingToken().getAsLong()).isPositive();
    }

    @Test
    @Tag("slow")
    default void givenHolds_whenOneFollowsAnother_thenTheirTokensGrow(Fixture fixture) {
        long last = 0;
        for (int i = 0; i < 100; i++) {
            Key key = fixture.key();

            long token = token(fixture.store().save(exclusive(key)));

            assertThat(token).isGreaterThan(last);
            last = token;
            assertThat(fixture.store().delete(key)).isTrue();
        }
    }

    @Test
    default void givenOneKey_whenItHoldsAgainAfterARelease_thenItsTokenIsGreater(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        long first = token(store.save(exclusive(key)));
        assertThat(store.delete(key)).isTrue();

        long second = token(store.save(exclusive(key)));

        assertThat(second).isGreaterThan(first);
    }

    @Test
    default void givenHeld_whenSavedAgain_thenTheTokenStays(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Response.Granted first = granted(store.save(exclusive(key)));

        Response.Granted second = granted(store.save(exclusive(holding(key, first))));

        assertThat(second.fencingToken()).isEqualTo(first.fencingToken());
    }

    @Test
    default void givenHeld_whenFound_thenTheTokenIsThere(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Response.Granted saved = granted(store.save(exclusive(key)));

        Response.Granted found = store.find(key).orElseThrow();

        assertThat(found.fencingToken()).isEqualTo(saved.fencingToken());
    }

    @Test
    default void givenConflicts_whenTheNextHolds_thenItsTokenIsGreater(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        long first = token(store.save(exclusive(key)));
        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
        assertThat(store.find(key).orElseThrow().fencingToken()).hasValue(first);
        assertThat(store.delete(key)).isTrue();

        long second = token(store.save(exclusive(fixture.key())));

        assertThat(second).isGreaterThan(first);
    }

    /** The same key may hold again after a release elsewhere, and yet another may have been in between. */
    @Test
    default void givenReleasedAndTakenAnewElsewhere_whenTheOldClaimIsRenewed_thenLost(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key oldClaim = holding(key, store.save(exclusive(key)));
        assertThat(store.delete(key)).isTrue();
        granted(store.save(exclusive(key)));

        Response response = store.save(exclusive(oldClaim));

        assertThat(response).isInstanceOf(Response.Lost.class);
    }

    @Test
    default void givenLock_whenAcquiredRefreshedAndReleased_thenItShowsTheTokenWhileItHolds(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.fencingToken()).isEmpty();
        assertThat(lock.tryAcquire()).isTrue();
        OptionalLong token = lock.fencingToken();
        assertThat(token).isPresent();

        lock.refresh();
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.fencingToken()).isEqualTo(token);
        assertThat(lock.key().held().orElseThrow().fencingToken()).isEqualTo(token);
        assertThat(lock.release()).isTrue();
        assertThat(lock.fencingToken()).isEmpty();
    }

    @Test
    default void givenLockWaited_whenItHolds_thenItsTokenIsGreater(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        long first = holder.fencingToken().orElseThrow();
        BackgroundCall<Lock> waiting = fixture.startWaiting(fixture.lock()::acquire);

        assertThat(holder.release()).isTrue();

        assertThat(fixture.woken(waiting).fencingToken().orElseThrow()).isGreaterThan(first);
    }

    private static long token(Response response) {
        return granted(response).fencingToken().orElseThrow();
    }
}
