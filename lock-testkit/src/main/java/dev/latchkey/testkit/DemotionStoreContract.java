package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Response;
import org.junit.jupiter.api.Test;

/** Demotion: exclusive to shared, without a gap; part of {@link SharedStoreContract}. */
public interface DemotionStoreContract extends StoreContract {

    /** Its answer was lost: the shared hold that it finds is the one that it has made. */
    @Test
    default void givenDemoted_whenTheDemotionIsRepeated_thenItIsShared(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key writes = holding(key, store.save(exclusive(key)));
        granted(store.save(shared(writes)));

        Response.Granted again = granted(store.save(shared(writes)));

        assertThat(again.mode()).isEqualTo(LockMode.SHARED);
        granted(store.save(shared(fixture.key())));
        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
    }

    @Test
    default void givenDemotedAndReleased_whenTheDemotionIsRepeated_thenLostAndNothingTaken(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key writes = holding(key, store.save(exclusive(key)));
        granted(store.save(shared(writes)));
        assertThat(store.delete(key)).isTrue();

        assertThat(store.save(shared(writes))).isInstanceOf(Response.Lost.class);

        assertThat(store.find(key)).isEmpty();
    }

    /** F11: after a demotion the old exclusive entry still counted. */
    @Test
    default void givenDemotedAndAnotherReads_whenTheFirstPromotes_thenConflictAndBothRead(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key early = fixture.key();
        granted(store.save(shared(early)));
        assertThat(store.delete(early)).isTrue();
        Key first = fixture.key();
        Key demoted = holding(first, store.save(shared(holding(first, store.save(exclusive(first))))));
        Key second = fixture.key();
        granted(store.save(shared(second)));

        Response response = store.save(exclusive(demoted));

        assertThat(response).isInstanceOf(Response.Conflicted.class);
        assertThat(store.find(first).orElseThrow().mode()).isEqualTo(LockMode.SHARED);
        assertThat(store.find(second).orElseThrow().mode()).isEqualTo(LockMode.SHARED);
    }

    @Test
    default void givenWriter_whenDemoted_thenReadersMayJoinAndWritersNot(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key writer = holding(key, store.save(exclusive(key)));

        Response response = store.save(shared(writer));

        assertThat(granted(response).mode()).isEqualTo(LockMode.SHARED);
        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
        assertThat(store.save(shared(fixture.key()))).isInstanceOf(Response.Granted.class);
        assertThat(store.find(key).orElseThrow().mode()).isEqualTo(LockMode.SHARED);
    }

    @Test
    default void givenDemoted_whenDeletedOnce_thenFree(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        granted(store.save(shared(holding(key, store.save(exclusive(key))))));

        assertThat(store.delete(key)).isTrue();

        assertThat(store.find(key)).isEmpty();
        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    /** Demoted with the same key elsewhere, another may have been in: the exclusive claim is no longer true. */
    @Test
    default void givenDemotedElsewhere_whenTheExclusiveClaimIsRenewed_thenLost(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key claim = holding(key, store.save(exclusive(key)));
        granted(store.save(shared(claim)));

        Response response = store.save(exclusive(claim));

        assertThat(response).isInstanceOf(Response.Lost.class);
    }
}
