package dev.latchkey.memcached;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.testkit.InspectableStoreContract;
import dev.latchkey.testkit.PersistingStoreContract;
import dev.latchkey.testkit.StoreRules;
import dev.latchkey.testkit.UnfencedContract;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The other contracts, and the rules for stores. */
class MemcachedStoreIT extends TextProtocol
        implements PersistingStoreContract, UnfencedContract, InspectableStoreContract {

    /** A holder that waits to promote renews its shared hold in the meantime. */
    @Test
    void givenOneWaitsToPromote_whenItsSharedHoldIsRefreshed_thenNewReadersAreKeptOutStill() {
        MemcachedStore store = (MemcachedStore) store();
        Key reader = Key.of("promoting");
        Key key = Key.of("promoting");
        Key promoter = holding(key, store.save(shared(key)));
        granted(store.save(shared(reader)));
        assertThat(store.save(exclusive(promoter).with(RetryIntent.AGAIN))).isInstanceOf(Response.Conflicted.class);

        granted(store.refresh(shared(promoter)));

        assertThat(store.save(shared(Key.of("promoting")))).isInstanceOf(Response.Conflicted.class);
        assertThat(store.delete(reader)).isTrue();
        assertThat(granted(store.save(exclusive(promoter))).mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(store.delete(key)).isTrue();
    }

    @Test
    @Tag("slow")
    void keepsTheRules() {
        StoreRules.of(MemcachedStore.class)
                .testedBy(MemcachedStoreIT.class)
                .testedBy(MemcachedLeaseIT.class)
                .testedBy(MemcachedProcessesIT.class)
                .check();
    }
}
