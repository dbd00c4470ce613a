package dev.latchkey.testkit;

import dev.latchkey.spi.PersistingStore;
import dev.latchkey.store.InMemoryStore;
import org.junit.jupiter.api.Test;

class InMemoryStoreTest
        implements PersistingStoreContract,
                SharedLeaseContract,
                SharedBlockingContract,
                SharedFencingContract,
                FenceStoreContract,
                ExpiringFencingContract,
                FairStoreContract,
                ProcessBoundContract,
                InspectableStoreContract,
                IndexedBatchContract,
                TreeLeaseContract,
                TreeSavepointContract,
                SingleProcessContract {

    private final InMemoryStore store = new InMemoryStore();

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return new InMemoryStore();
    }

    @Override
    public String dsnOfItsKind() {
        return "in-memory";
    }

    @Test
    void joinsAllItsContracts() {
        StoreRules.of(InMemoryStore.class).testedBy(InMemoryStoreTest.class).checkContracts();
    }
}
