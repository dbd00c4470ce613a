package dev.latchkey.redis;

import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.AsyncStoreContract;
import dev.latchkey.testkit.CutOffContract;
import dev.latchkey.testkit.DurableServerContract;
import dev.latchkey.testkit.ExpiringFencingContract;
import dev.latchkey.testkit.FairSemaphoreContract;
import dev.latchkey.testkit.FairStoreContract;
import dev.latchkey.testkit.FencingStoreContract;
import dev.latchkey.testkit.HandoverContract;
import dev.latchkey.testkit.ImmediateForceReleaseContract;
import dev.latchkey.testkit.IndexedBatchContract;
import dev.latchkey.testkit.InspectableStoreContract;
import dev.latchkey.testkit.LeaderElectionContract;
import dev.latchkey.testkit.LeaderElectionServerContract;
import dev.latchkey.testkit.LeaseCrashContract;
import dev.latchkey.testkit.ListingStoreContract;
import dev.latchkey.testkit.MultiLockContentionContract;
import dev.latchkey.testkit.MultiLockContract;
import dev.latchkey.testkit.MultiLockForceContract;
import dev.latchkey.testkit.MultiLockLeaseContract;
import dev.latchkey.testkit.OwnServer;
import dev.latchkey.testkit.PersistingStoreContract;
import dev.latchkey.testkit.ProcessContentionContract;
import dev.latchkey.testkit.SemaphoreContentionContract;
import dev.latchkey.testkit.SemaphoreCrashContract;
import dev.latchkey.testkit.SharedBlockingContract;
import dev.latchkey.testkit.SharedFencingContract;
import dev.latchkey.testkit.SharedForceReleaseContract;
import dev.latchkey.testkit.SharedLeaseContract;
import dev.latchkey.testkit.StickyCrashContract;
import dev.latchkey.testkit.StickyForceReleaseContract;
import dev.latchkey.testkit.StickyLeaseContract;
import dev.latchkey.testkit.StoreRules;
import dev.latchkey.testkit.TreeCrashContract;
import dev.latchkey.testkit.TreeLeaseContract;
import dev.latchkey.testkit.TreeSavepointContract;
import dev.latchkey.testkit.WaiterListingStoreContract;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class RedisStoreIT
        implements PersistingStoreContract,
                SharedLeaseContract,
                SharedBlockingContract,
                SharedFencingContract,
                FencingStoreContract,
                ExpiringFencingContract,
                FairStoreContract,
                FairSemaphoreContract,
                SemaphoreCrashContract,
                SemaphoreContentionContract,
                InspectableStoreContract,
                ListingStoreContract,
                WaiterListingStoreContract,
                ImmediateForceReleaseContract,
                SharedForceReleaseContract,
                StickyForceReleaseContract,
                StickyLeaseContract,
                StickyCrashContract,
                HandoverContract,
                IndexedBatchContract,
                MultiLockContract,
                MultiLockForceContract,
                MultiLockLeaseContract,
                MultiLockContentionContract,
                TreeCrashContract,
                TreeLeaseContract,
                TreeSavepointContract,
                LeaseCrashContract,
                CutOffContract,
                DurableServerContract,
                AsyncStoreContract,
                LeaderElectionContract,
                LeaderElectionServerContract,
                ProcessContentionContract {

    private PersistingStore store;

    @Override
    public int forceReleaseRaces() {
        return 10_000;
    }

    @Override
    public int cancellationRaces() {
        return 10_000;
    }

    @Override
    public int multiLockProcesses() {
        return 8;
    }

    @BeforeEach
    void open() {
        store = new RedisStore.Provider().open(dsn());
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
        return new RedisStore.Provider().open(dsn() + "&prefix=" + UUID.randomUUID() + ":");
    }

    @Override
    public String dsn() {
        return PatientDsn.redis(RedisServer.sharedDsn());
    }

    @Override
    public List<RedisServer> startServers() {
        return List.of(RedisServer.startDurable());
    }

    @Override
    public String dsn(List<? extends OwnServer> servers) {
        return PatientDsn.redis(servers.get(0).dsn());
    }

    @Test
    @Tag("slow")
    void keepsTheRules() {
        StoreRules.of(RedisStore.class).testedBy(RedisStoreIT.class).check();
    }
}
