package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.HandoffStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A hold goes from one key to the next in one step, unless others wait: for a {@link HandoffStore}. */
@ContractFor(HandoffStore.class)
public interface HandoffStoreContract extends StoreContract {

    /** The next holder's token is greater, and the first key has nothing left to give up. */
    @Test
    default void givenAHolder_whenItPassesTheHold_thenTheNextHoldsItWithAGreaterToken(Fixture fixture) {
        HandoffStore store = fixture.store(HandoffStore.class);
        Key first = held(store, fixture.resource());
        Key next = Key.of(fixture.resource());

        Response.Granted granted = store.handOff(first, exclusive(next)).orElseThrow();

        assertThat(granted.mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(granted.fencingToken().orElseThrow())
                .isGreaterThan(first.held().orElseThrow().fencingToken().orElseThrow());
        assertThat(store.find(first)).isEmpty();
        assertThat(store.find(next).orElseThrow().fencingToken()).isEqualTo(granted.fencingToken());
        assertThat(store.delete(first)).isFalse();
        assertThat(store.delete(next)).isTrue();
    }

    /** Tokens keep growing over holds that were passed and holds that were not. */
    @Test
    default void givenAHoldThatWasPassed_whenItIsReleasedAndTakenAgain_thenTheTokenIsGreaterStill(Fixture fixture) {
        HandoffStore store = fixture.store(HandoffStore.class);
        Key next = Key.of(fixture.resource());
        long passed = store.handOff(held(store, fixture.resource()), exclusive(next))
                .orElseThrow()
                .fencingToken()
                .orElseThrow();
        assertThat(store.delete(next)).isTrue();

        Key last = held(store, fixture.resource());

        assertThat(last.held().orElseThrow().fencingToken().orElseThrow()).isGreaterThan(passed);
        assertThat(store.delete(last)).isTrue();
    }

    /** Whoever has asked, and waits elsewhere, must not be passed over. */
    @Test
    default void givenAnotherWaits_whenTheHoldIsToBePassed_thenNothingChanges(Fixture fixture) {
        HandoffStore store = fixture.store(HandoffStore.class);
        Key first = held(store, fixture.resource());
        Request waiters = exclusive(Key.of(fixture.resource())).with(RetryIntent.AGAIN);
        assertThat(store.save(waiters)).isInstanceOf(Response.Conflicted.class);

        Optional<Response.Granted> passed = store.handOff(first, exclusive(Key.of(fixture.resource())));

        assertThat(passed).isEmpty();
        assertThat(store.find(first)).isPresent();
        assertThat(store.delete(first)).isTrue();
    }

    /** What is no longer held cannot be passed. */
    @Test
    default void givenAHoldThatIsOver_whenItIsToBePassed_thenNobodyGetsIt(Fixture fixture) {
        HandoffStore store = fixture.store(HandoffStore.class);
        Key first = held(store, fixture.resource());
        assertThat(store.delete(first)).isTrue();
        Key rival = held(store, fixture.resource());
        Key next = Key.of(fixture.resource());

        assertThat(store.handOff(first, exclusive(next))).isEmpty();

        assertThat(store.find(next)).isEmpty();
        assertThat(store.delete(rival)).isTrue();
    }

    private static Key held(PersistingStore store, String resource) {
        Key key = Key.of(resource);
        return Requests.holding(key, store.save(exclusive(key)));
    }
}
