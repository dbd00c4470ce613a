package dev.latchkey.redis;

import dev.latchkey.servers.PatientDsn;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.ExpiringFencingContract;
import dev.latchkey.testkit.FairSemaphoreContract;
import dev.latchkey.testkit.FairStoreContract;
import dev.latchkey.testkit.ImmediateForceReleaseContract;
import dev.latchkey.testkit.InspectableStoreContract;
import dev.latchkey.testkit.ListingStoreContract;
import dev.latchkey.testkit.MultiLockContract;
import dev.latchkey.testkit.MultiLockForceContract;
import dev.latchkey.testkit.MultiLockLeaseContract;
import dev.latchkey.testkit.PersistingStoreContract;
import dev.latchkey.testkit.SharedBlockingContract;
import dev.latchkey.testkit.SharedFencingContract;
import dev.latchkey.testkit.SharedForceReleaseContract;
import dev.latchkey.testkit.SharedLeaseContract;
import dev.latchkey.testkit.StickyForceReleaseContract;
import dev.latchkey.testkit.StickyLeaseContract;
import dev.latchkey.testkit.WaiterListingStoreContract;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The contracts on three masters. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class RedisClusterStoreIT extends OnACluster
        implements PersistingStoreContract,
                SharedLeaseContract,
                SharedBlockingContract,
                SharedFencingContract,
                ExpiringFencingContract,
                FairStoreContract,
                FairSemaphoreContract,
                InspectableStoreContract,
                ListingStoreContract,
                WaiterListingStoreContract,
                ImmediateForceReleaseContract,
                SharedForceReleaseContract,
                StickyForceReleaseContract,
                StickyLeaseContract,
                MultiLockContract,
                MultiLockForceContract,
                MultiLockLeaseContract {

    private PersistingStore store;

    @BeforeEach
    void open() {
        store = new RedisStore.Provider().open(PatientDsn.redis(cluster.dsn()));
    }

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
        return new RedisStore.Provider().open(PatientDsn.redis(cluster.dsn()) + "&prefix=" + UUID.randomUUID() + ":");
    }
}
