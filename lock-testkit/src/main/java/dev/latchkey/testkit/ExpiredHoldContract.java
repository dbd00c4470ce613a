package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.holding;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Response;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is left of a hold whose lease is over, and what its key can still do; part of {@link ExpiringStoreContract}. */
public interface ExpiredHoldContract extends StoreContract {

    /**
     * Tells whether the store knows who held last once a lease has ended. A store that forgets a hold with its lease says
     * so here: it cannot tell whether another has held since, and a late release then was not ours.
     *
     * @return true unless overridden
     */
    default boolean remembersExpiredHolds() {
        return true;
    }

    /** F18: an expired lock that was still free came back by a refresh, and nobody learned that it had been lost. */
    @Test
    @Tag("slow")
    default void givenExpiredHold_whenRefreshed_thenLostAndNothingTaken(Fixture fixture) {
        Key key = fixture.key();
        Key claim = expired(fixture, key);

        Response response = fixture.store(ExpiringStore.class).refresh(exclusive(claim));

        assertThat(response).isInstanceOf(Response.Lost.class);
        assertThat(fixture.store().find(key)).isEmpty();
        fixture.takeOver(fixture.key());
    }

    @Test
    @Tag("slow")
    default void givenExpiredAndTakenOver_whenRefreshed_thenLostAndTheTakerHolds(Fixture fixture) {
        Key key = fixture.key();
        Key claim = expired(fixture, key);
        Key taker = fixture.key();
        fixture.takeOver(taker);

        Response response = fixture.store(ExpiringStore.class).refresh(exclusive(claim));

        assertThat(response).isInstanceOf(Response.Lost.class);
        assertThat(fixture.store().find(taker)).isPresent();
    }

    @Test
    @Tag("slow")
    default void givenExpiredHold_whenTheClaimIsSaved_thenLostAndNothingTaken(Fixture fixture) {
        Key key = fixture.key();
        Key claim = expired(fixture, key);

        Response response = fixture.store().save(exclusive(claim));

        assertThat(response).isInstanceOf(Response.Lost.class);
        assertThat(fixture.store().find(key)).isEmpty();
    }

    @Test
    @Tag("slow")
    default void givenExpiredHold_whenSavedWithoutAClaim_thenANewHold(Fixture fixture) {
        Key key = fixture.key();
        expired(fixture, key);

        fixture.takeOver(key);

        assertThat(fixture.store().find(key)).isPresent();
    }

    @Test
    @Tag("slow")
    default void givenExpiredAndNobodyCame_whenDeleted_thenItWasOursAsFarAsIsKnown(Fixture fixture) {
        Key key = fixture.key();
        expired(fixture, key);

        boolean wasHolder = fixture.store().delete(key);

        assertThat(wasHolder).isEqualTo(remembersExpiredHolds());
        fixture.takeOver(fixture.key());
    }

    /** F17, F45: a late delete hit the next holder, or said that all was well. */
    @Test
    @Tag("slow")
    default void givenExpiredAndTakenOver_whenDeleted_thenItWasNotOursAndTheTakerHolds(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        expired(fixture, key);
        Key taker = fixture.key();
        fixture.takeOver(taker);

        boolean wasHolder = store.delete(key);

        assertThat(wasHolder).isFalse();
        assertThat(store.find(taker)).isPresent();
        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
    }

    @Test
    @Tag("slow")
    default void givenExpiredAndAnotherCameAndWent_whenDeleted_thenItWasNotOurs(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        expired(fixture, key);
        Key visitor = fixture.key();
        fixture.takeOver(visitor);
        assertThat(store.delete(visitor)).isTrue();

        boolean wasHolder = store.delete(key);

        assertThat(wasHolder).isFalse();
    }

    private Key expired(Fixture fixture, Key key) {
        Key claim = holding(key, fixture.store().save(exclusive(key, shortTtl())));
        fixture.awaitExpiry(key);
        return claim;
    }
}
