package dev.latchkey.memcached;

import dev.latchkey.servers.MemcachedServer;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.BadInputContract;
import dev.latchkey.testkit.ClaimContract;
import dev.latchkey.testkit.ContentionContract;
import dev.latchkey.testkit.ExclusionContract;
import dev.latchkey.testkit.InspectableStoreContract;
import dev.latchkey.testkit.InterruptContract;
import dev.latchkey.testkit.NamingContract;
import dev.latchkey.testkit.SharedStoreContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What differs between the protocols: every operation, every answer, names and interrupts. */
@Execution(ExecutionMode.CONCURRENT)
class BinaryProtocolIT
        implements ExclusionContract,
                ClaimContract,
                SharedStoreContract,
                NamingContract,
                BadInputContract,
                InterruptContract,
                ContentionContract,
                InspectableStoreContract {

    private static final String DSN = MemcachedServer.sharedDsn() + "?protocol=binary";
    private static PersistingStore store;

    @BeforeAll
    static void open() {
        store = Stores.patient(DSN);
    }

    @AfterAll
    static void close() {
        store.close();
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return Stores.openOthers(DSN);
    }
}
