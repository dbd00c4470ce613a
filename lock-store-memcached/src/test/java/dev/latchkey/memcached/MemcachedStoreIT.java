package dev.latchkey.memcached;

import dev.latchkey.testkit.InspectableStoreContract;
import dev.latchkey.testkit.PersistingStoreContract;
import dev.latchkey.testkit.StoreRules;
import dev.latchkey.testkit.UnfencedContract;
import org.junit.jupiter.api.Test;

/** The other contracts, and the rules for stores. */
class MemcachedStoreIT extends TextProtocol
        implements PersistingStoreContract, UnfencedContract, InspectableStoreContract {

    @Test
    void keepsTheRules() {
        StoreRules.of(MemcachedStore.class)
                .testedBy(MemcachedStoreIT.class)
                .testedBy(MemcachedLeaseIT.class)
                .testedBy(MemcachedProcessesIT.class)
                .check();
    }
}
