package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.IndexedBatchStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.StateCheck;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.spi.StateRule;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Nobody takes what changed since the state he knows: for an {@link IndexedBatchStore}. */
@ContractFor(IndexedBatchStore.class)
public interface IndexedBatchContract extends BatchStoreContract, IndexStoreContract {

    @Test
    default void givenChangedExclusively_whenTakenWithLess_thenStaleInBothModes(Fixture fixture) {
        raise(fixture, new StateIndex(7, 0));
        var stale = new BatchAttempt.Stale(Map.of(fixture.resource(), 7L));

        assertThat(save(fixture, 6, exclusive(fixture.key()))).isEqualTo(stale);
        assertThat(save(fixture, 6, shared(fixture.key()))).isEqualTo(stale);
        assertThat(save(fixture, 7, shared(fixture.key()))).isInstanceOf(BatchAttempt.Granted.class);
    }

    @Test
    default void givenChangedBelow_whenTakenWithLess_thenStaleExclusivelyAndGrantedShared(Fixture fixture) {
        raise(fixture, new StateIndex(2, 7));

        assertThat(save(fixture, 6, exclusive(fixture.key())))
                .isEqualTo(new BatchAttempt.Stale(Map.of(fixture.resource(), 7L)));
        assertThat(save(fixture, 6, shared(fixture.key()))).isInstanceOf(BatchAttempt.Granted.class);
    }

    @Test
    default void givenTheOlderRule_whenTakenWithLess_thenOnlyTheExclusiveIndexCountsForTheExclusiveMode(
            Fixture fixture) {
        raise(fixture, new StateIndex(5, 9));
        IndexedBatchStore store = fixture.store(IndexedBatchStore.class);

        assertThat(store.saveAll(List.of(exclusive(fixture.key())), new StateCheck(4, StateRule.EXCLUSIVE_INDEX)))
                .isEqualTo(new BatchAttempt.Stale(Map.of(fixture.resource(), 5L)));
        assertThat(store.saveAll(List.of(shared(fixture.key())), new StateCheck(0, StateRule.EXCLUSIVE_INDEX)))
                .isInstanceOf(BatchAttempt.Granted.class);
    }

    @Test
    default void givenOneIsStale_whenSavedTogether_thenNothingIsTaken(Fixture fixture) {
        Key fresh = fixture.key(fixture.resource() + "/fresh");
        raise(fixture, new StateIndex(7, 0));

        BatchAttempt attempt = save(fixture, 6, exclusive(fresh), exclusive(fixture.key()));

        assertThat(attempt).isEqualTo(new BatchAttempt.Stale(Map.of(fixture.resource(), 7L)));
        assertThat(fixture.store().find(fresh)).isEmpty();
    }

    @Test
    default void givenStalePromotion_whenSavedTogether_thenItIsSharedStill(Fixture fixture) {
        raise(fixture, new StateIndex(0, 7));
        Key key = fixture.key();
        Key reader = Requests.holding(key, fixture.store().save(shared(key)));

        assertThat(save(fixture, 6, exclusive(reader))).isInstanceOf(BatchAttempt.Stale.class);

        assertThat(fixture.store().find(reader)).map(Response.Granted::mode).contains(LockMode.SHARED);
    }

    @Test
    default void givenHeldAndStale_whenSavedTogether_thenTheConflictIsTold(Fixture fixture) {
        raise(fixture, new StateIndex(7, 0));
        granted(fixture.store().save(exclusive(fixture.key())));

        assertThat(save(fixture, 6, exclusive(fixture.key()))).isInstanceOf(BatchAttempt.Conflicted.class);
    }

    private static void raise(Fixture fixture, StateIndex index) {
        fixture.store(IndexedBatchStore.class).raise(Map.of(fixture.resource(), index));
    }

    private static BatchAttempt save(Fixture fixture, long known, Request... requests) {
        return fixture.store(IndexedBatchStore.class)
                .saveAll(List.of(requests), new StateCheck(known, StateRule.BOTH_INDEXES));
    }
}
