package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.spi.FencingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Response;
import org.junit.jupiter.api.Test;

/** Only the exclusive holder can raise the fencing token, and it never shrinks: for a {@link FencingStore}. */
@ContractFor(FencingStore.class)
public interface FencingStoreContract extends FencingContract {

    @Test
    default void givenHeld_whenRaised_thenItIsTheTokenOfTheHoldAndTheNextIsGreater(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        long raised = token(store.save(exclusive(key))) + 1_000_000_000L;

        assertThat(fixture.store(FencingStore.class).raiseFence(key, raised)).isTrue();

        Response.Granted found = store.find(key).orElseThrow();
        assertThat(found.fencingToken()).hasValue(raised);
        assertThat(granted(store.save(exclusive(holding(key, found)))).fencingToken())
                .hasValue(raised);
        assertThat(store.delete(key)).isTrue();
        assertThat(token(store.save(exclusive(fixture.key())))).isGreaterThan(raised);
    }

    @Test
    default void givenRaised_whenRaisedAgain_thenTheSameIsFineAndASmallerOneIsNot(Fixture fixture) {
        FencingStore fences = fixture.store(FencingStore.class);
        Key key = fixture.key();
        long raised = token(fences.save(exclusive(key))) + 10;
        assertThat(fences.raiseFence(key, raised)).isTrue();

        assertThat(fences.raiseFence(key, raised)).isTrue();
        assertThat(fences.raiseFence(key, raised - 1)).isFalse();

        assertThat(fences.find(key).orElseThrow().fencingToken()).hasValue(raised);
    }

    @Test
    default void givenHeldByAnotherOrSharedOrFree_whenRaised_thenRefusedAndNothingChanges(Fixture fixture) {
        FencingStore fences = fixture.store(FencingStore.class);
        Key key = fixture.key();
        Key other = fixture.key();
        assertThat(fences.raiseFence(key, Long.MAX_VALUE / 4)).isFalse();
        long token = token(fences.save(exclusive(other)));

        assertThat(fences.raiseFence(key, token + 1_000_000_000L)).isFalse();

        assertThat(fences.find(other).orElseThrow().fencingToken()).hasValue(token);
        assertThat(fences.delete(other)).isTrue();
        if (granted(fences.save(shared(key))).fencingToken().isEmpty()) {
            assertThat(fences.raiseFence(key, token + 1_000_000_000L)).isFalse();
        }
    }

    @Test
    default void givenProposal_whenSaved_thenTheTokenGrowsAllTheSame(Fixture fixture) {
        FencingStore fences = fixture.store(FencingStore.class);
        Key first = fixture.key();
        long token = token(fences.save(exclusive(first), 5));
        assertThat(fences.delete(first)).isTrue();

        long next = token(fences.save(exclusive(fixture.key()), token));

        assertThat(next).isGreaterThan(token);
    }

    private static long token(Response response) {
        return granted(response).fencingToken().orElseThrow();
    }
}
