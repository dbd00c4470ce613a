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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Promotion: shared to exclusive, without a gap; part of {@link SharedStoreContract}. A refused promotion leaves the shared
 * hold as it was.
 */
public interface PromotionStoreContract extends StoreContract {

    @Test
    default void givenOnlyReader_whenPromoted_thenExclusive(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key reader = holding(key, store.save(shared(key)));

        Response response = store.save(exclusive(reader));

        assertThat(granted(response).mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(store.find(key).orElseThrow().mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(store.save(shared(fixture.key()))).isInstanceOf(Response.Conflicted.class);
        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
    }

    @Test
    default void givenPromoted_whenDeletedOnce_thenFree(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        granted(store.save(exclusive(holding(key, store.save(shared(key))))));

        assertThat(store.delete(key)).isTrue();

        assertThat(store.find(key)).isEmpty();
        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenTwoReaders_whenOnePromotes_thenConflictAndItReadsStill(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key reader = holding(key, store.save(shared(key)));
        Key other = fixture.key();
        granted(store.save(shared(other)));

        Response response = store.save(exclusive(reader));

        assertThat(response).isInstanceOf(Response.Conflicted.class);
        assertThat(store.find(key).orElseThrow().mode()).isEqualTo(LockMode.SHARED);
        assertThat(store.find(other).orElseThrow().mode()).isEqualTo(LockMode.SHARED);
    }

    /** F5, F6: the refused promoter had lost its shared hold, or could not get rid of it. */
    @Test
    default void givenPromotionRefused_whenTheOtherReaderGoes_thenItKeepsWritersOutUntilDeleted(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key reader = holding(key, store.save(shared(key)));
        Key other = fixture.key();
        granted(store.save(shared(other)));
        assertThat(store.save(exclusive(reader))).isInstanceOf(Response.Conflicted.class);

        assertThat(store.delete(other)).isTrue();

        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
        assertThat(store.delete(key)).isTrue();
        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenPromotionRefused_whenTheOtherReaderGoes_thenItCanPromote(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key reader = holding(key, store.save(shared(key)));
        Key other = fixture.key();
        granted(store.save(shared(other)));
        assertThat(store.save(exclusive(reader))).isInstanceOf(Response.Conflicted.class);
        assertThat(store.delete(other)).isTrue();

        Response response = store.save(exclusive(reader));

        assertThat(granted(response).mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    @Test
    default void givenPromotionRefused_whenAnotherReads_thenItMay(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key reader = holding(key, store.save(shared(key)));
        granted(store.save(shared(fixture.key())));
        assertThat(store.save(exclusive(reader))).isInstanceOf(Response.Conflicted.class);

        Response response = store.save(shared(fixture.key()));

        assertThat(response).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenClaimedSharedHoldIsGone_whenPromoted_thenLostAndNothingTaken(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key claim = holding(key, store.save(shared(key)));
        assertThat(store.delete(key)).isTrue();

        Response response = store.save(exclusive(claim));

        assertThat(response).isInstanceOf(Response.Lost.class);
        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    /** It may have been sent before the promotion, by another Lock over the key, or by a process that has given its key away since. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    default void givenPromoted_whenARequestToShareComesLate_thenItStaysExclusive(boolean isClaimed, Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key reads = holding(key, store.save(shared(key)));
        Response.Granted writes = granted(store.save(exclusive(reads)));

        granted(store.save(shared(isClaimed ? reads : key)));

        assertThat(store.find(key)).get().extracting(Response.Granted::mode).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(granted(store.save(exclusive(holding(key, writes)))).fencingToken())
                .isEqualTo(writes.fencingToken());
        assertThat(store.save(shared(fixture.key()))).isInstanceOf(Response.Conflicted.class);
    }
}
