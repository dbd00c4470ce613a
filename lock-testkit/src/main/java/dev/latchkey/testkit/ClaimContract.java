package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Response;
import org.junit.jupiter.api.Test;

/** What a key claims to hold is compared with what the store has: it is confirmed or lost, and never acquired anew. */
public interface ClaimContract extends StoreContract {

    @Test
    default void givenHeld_whenSavedByAnEqualKeyThatClaimsNothing_thenTheSameHold(Fixture fixture) {
        Key key = fixture.key();
        Response.Granted first = granted(fixture.store().save(exclusive(key)));

        Response.Granted second = granted(fixture.store().save(exclusive(key)));

        assertThat(second.fencingToken()).isEqualTo(first.fencingToken());
        assertThat(fixture.store().delete(key)).isTrue();
        assertThat(fixture.store().find(key)).isEmpty();
    }

    @Test
    default void givenClaimedHoldWasDeleted_whenSaved_thenLostAndNothingTaken(Fixture fixture) {
        Key key = fixture.key();
        Key claim = holding(key, fixture.store().save(exclusive(key)));
        assertThat(fixture.store().delete(key)).isTrue();

        Response response = fixture.store().save(exclusive(claim));

        assertThat(response).isInstanceOf(Response.Lost.class);
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenClaimedHoldWasTakenOver_whenSaved_thenLostAndTheTakerHolds(Fixture fixture) {
        Key key = fixture.key();
        Key taker = fixture.key();
        Key claim = holding(key, fixture.store().save(exclusive(key)));
        assertThat(fixture.store().delete(key)).isTrue();
        granted(fixture.store().save(exclusive(taker)));

        Response response = fixture.store().save(exclusive(claim));

        assertThat(response).isInstanceOf(Response.Lost.class);
        assertThat(fixture.store().find(taker)).isPresent();
    }

    @Test
    default void givenSameKeyHeldInAnotherStore_whenSavedHere_thenReallyTaken(Fixture fixture) {
        PersistingStore elsewhere = fixture.separateStore();
        Key key = fixture.key();
        granted(elsewhere.save(exclusive(key)));

        Response response = fixture.store().save(exclusive(key));

        assertThat(response).isInstanceOf(Response.Granted.class);
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
        assertThat(elsewhere.delete(key)).isTrue();
        assertThat(fixture.store().find(key)).isPresent();
    }
}
