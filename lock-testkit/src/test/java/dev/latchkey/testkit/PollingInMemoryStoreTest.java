package dev.latchkey.testkit;

import dev.latchkey.spi.PersistingStore;
import dev.latchkey.store.InMemoryStore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The same contracts through the core's waiting loop. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class PollingInMemoryStoreTest
        implements PersistingStoreContract,
                SharedLeaseContract,
                SharedFencingContract,
                ExpiringFencingContract,
                ProcessBoundContract,
                InspectableStoreContract {

    private final PersistingStore store = new PollingStore(new InMemoryStore());

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return new PollingStore(new InMemoryStore());
    }
}
