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
import dev.latchkey.spi.SharedStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Many readers or one writer, promotion and demotion: for a {@link SharedStore}. A refused promotion leaves the shared hold
 * as it was; neither change of mode ever lets anybody in between.
 */
@ContractFor(SharedStore.class)
public interface SharedStoreContract extends SharedOwnershipContract {

    @Test
    default void givenSharedStore_whenAskedForTheCapability_thenItHasIt(Fixture fixture) {
        assertThat(fixture.store().capability(SharedStore.class)).isPresent();
    }

    @Test
    default void givenFree_whenSavedShared_thenGrantedShared(Fixture fixture) {
        Key key = fixture.key();

        Response response = fixture.store().save(shared(key));

        assertThat(granted(response).mode()).isEqualTo(LockMode.SHARED);
        assertThat(fixture.store().find(key).orElseThrow().mode()).isEqualTo(LockMode.SHARED);
    }

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

    @Test
    default void givenReader_whenOtherReads_thenBothHold(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key first = fixture.key();
        Key second = fixture.key();
        granted(store.save(shared(first)));

        Response response = store.save(shared(second));

        assertThat(response).isInstanceOf(Response.Granted.class);
        assertThat(store.find(first)).isPresent();
        assertThat(store.find(second)).isPresent();
    }

    @Test
    default void givenReaders_whenWriterSaves_thenConflictAndReadersHold(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key first = fixture.key();
        Key second = fixture.key();
        granted(store.save(shared(first)));
        granted(store.save(shared(second)));
        Key writer = fixture.key();

        Response response = store.save(exclusive(writer));

        assertThat(response).isInstanceOf(Response.Conflicted.class);
        assertThat(store.find(first)).isPresent();
        assertThat(store.find(second)).isPresent();
        assertThat(store.find(writer)).isEmpty();
    }

    @Test
    default void givenReaders_whenOneDeletes_thenWriterIsRefusedStill(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key first = fixture.key();
        Key second = fixture.key();
        granted(store.save(shared(first)));
        granted(store.save(shared(second)));

        assertThat(store.delete(first)).isTrue();

        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
        assertThat(store.find(second)).isPresent();
    }

    @Test
    default void givenReaders_whenAllDelete_thenWriterGetsIn(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key first = fixture.key();
        Key second = fixture.key();
        granted(store.save(shared(first)));
        granted(store.save(shared(second)));

        assertThat(store.delete(first)).isTrue();
        assertThat(store.delete(second)).isTrue();

        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenWriter_whenOtherReads_thenConflict(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key writer = fixture.key();
        granted(store.save(exclusive(writer)));

        Response response = store.save(shared(fixture.key()));

        assertThat(response).isInstanceOf(Response.Conflicted.class);
        assertThat(store.find(writer).orElseThrow().mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    @Test
    default void givenReaderSavedAgain_whenDeletedOnce_thenGone(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key claim = holding(key, store.save(shared(key)));
        granted(store.save(shared(claim)));

        assertThat(store.delete(key)).isTrue();

        assertThat(store.find(key)).isEmpty();
        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenReader_whenForeignKeyIsDeleted_thenItReadsStill(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key reader = fixture.key();
        granted(store.save(shared(reader)));

        assertThat(store.delete(fixture.key())).isFalse();

        assertThat(store.find(reader)).isPresent();
        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
    }

    /** F9 of the catalogue: an emptied set of readers was taken for readers. */
    @Test
    default void givenReadAndReleased_whenAnotherWrites_thenNobodyReadsBeside(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key early = fixture.key();
        granted(store.save(shared(early)));
        assertThat(store.delete(early)).isTrue();
        Key writer = fixture.key();
        granted(store.save(exclusive(writer)));

        Response response = store.save(shared(fixture.key()));

        assertThat(response).isInstanceOf(Response.Conflicted.class);
        assertThat(store.find(writer).orElseThrow().mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    /** F10: a refused reader left traces that let the next one in beside the writer. */
    @Test
    default void givenReaderWasRefused_whenAnotherReads_thenRefusedAndDeletingThemLeavesTheWriter(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key writer = fixture.key();
        granted(store.save(exclusive(writer)));
        Key first = fixture.key();
        Key second = fixture.key();
        assertThat(store.save(shared(first))).isInstanceOf(Response.Conflicted.class);
        assertThat(store.save(shared(second))).isInstanceOf(Response.Conflicted.class);

        assertThat(store.delete(first)).isFalse();
        assertThat(store.delete(second)).isFalse();

        assertThat(store.find(writer).orElseThrow().mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
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

    @Test
    default void givenClaimedSharedHoldIsGoneAndAnotherWrites_whenSavedShared_thenLost(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key claim = holding(key, store.save(shared(key)));
        assertThat(store.delete(key)).isTrue();
        Key writer = fixture.key();
        granted(store.save(exclusive(writer)));

        Response response = store.save(shared(claim));

        assertThat(response).isInstanceOf(Response.Lost.class);
        assertThat(store.find(writer)).isPresent();
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
