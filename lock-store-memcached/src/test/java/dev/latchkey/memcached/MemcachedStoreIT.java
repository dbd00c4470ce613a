package dev.latchkey.memcached;

import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.HandoverContract;
import dev.latchkey.testkit.InspectableStoreContract;
import dev.latchkey.testkit.LeaseCrashContract;
import dev.latchkey.testkit.MemcachedServer;
import dev.latchkey.testkit.PersistingStoreContract;
import dev.latchkey.testkit.ProcessContentionContract;
import dev.latchkey.testkit.SharedLeaseContract;
import dev.latchkey.testkit.StoreRules;
import dev.latchkey.testkit.UnfencedContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** All contracts, by the text protocol. */
class MemcachedStoreIT
        implements PersistingStoreContract,
                SharedLeaseContract,
                UnfencedContract,
                InspectableStoreContract,
                HandoverContract,
                LeaseCrashContract,
                ProcessContentionContract {

    private static PersistingStore store;

    @BeforeAll
    static void open() {
        store = Stores.open(MemcachedServer.sharedDsn());
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
        return Stores.openOthers(MemcachedServer.sharedDsn());
    }

    @Override
    public String dsn() {
        return MemcachedServer.sharedDsn();
    }

    @Override
    public Duration shortTtl() {
        return Duration.ofSeconds(1);
    }

    @Override
    public boolean remembersExpiredHolds() {
        return false;
    }

    @Test
    void keepsTheRules() {
        StoreRules.of(MemcachedStore.class).testedBy(MemcachedStoreIT.class).check();
    }
}
