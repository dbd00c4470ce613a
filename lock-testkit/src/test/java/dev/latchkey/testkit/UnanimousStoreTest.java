package dev.latchkey.testkit;

import dev.latchkey.combined.CombinedStore;
import dev.latchkey.combined.UnanimousStrategy;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.store.InMemoryStore;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** Two members that must both agree. */
class UnanimousStoreTest
        implements PersistingStoreContract,
                SharedLeaseContract,
                SharedFencingContract,
                ExpiringFencingContract,
                ProcessBoundContract {

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

    private static PersistingStore combined() {
        return new CombinedStore(List.of(new InMemoryStore(), new InMemoryStore()), new UnanimousStrategy());
    }
}
