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

/**
 * Many readers or one writer: for a {@link SharedStore}. Its other parts are about changes of mode, and about {@code Lock}.
 */
@ContractFor(SharedStore.class)
public interface SharedStoreContract extends PromotionStoreContract, DemotionStoreContract, SharedOwnershipContract {

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
}
