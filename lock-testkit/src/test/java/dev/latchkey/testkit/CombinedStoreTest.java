package dev.latchkey.testkit;

import dev.latchkey.combined.CombinedStore;
import dev.latchkey.combined.ConsensusStrategy;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.store.InMemoryStore;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Three members, of which two must agree. */
@Execution(ExecutionMode.CONCURRENT)
class CombinedStoreTest
        implements PersistingStoreContract,
                SharedLeaseContract,
                SharedFencingContract,
                ExpiringFencingContract,
                InspectableStoreContract,
                LeaderElectionContract,
                ProcessBoundContract,
                SingleProcessContract {

    private final PersistingStore store = combined();

    @AfterEach
    void close() {
        store.close();
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return combined();
    }

    @Override
    public String dsnOfItsKind() {
        return "combined:consensus(in-memory,in-memory,in-memory)";
    }

    private static PersistingStore combined() {
        return new CombinedStore(
                List.of(new InMemoryStore(), new InMemoryStore(), new InMemoryStore()), new ConsensusStrategy());
    }

    @Test
    @Tag("slow")
    void joinsAllItsContracts() {
        StoreRules.of(CombinedStore.class).testedBy(CombinedStoreTest.class).checkContracts();
    }
}
