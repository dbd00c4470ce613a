package dev.latchkey.mongodb;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.testkit.CutOffContract;
import dev.latchkey.testkit.ExpiringFencingContract;
import dev.latchkey.testkit.ExpiringStoreContract;
import dev.latchkey.testkit.FencingContract;
import dev.latchkey.testkit.HandoverContract;
import dev.latchkey.testkit.IndexStoreContract;
import dev.latchkey.testkit.InspectableStoreContract;
import dev.latchkey.testkit.LeaderElectionContract;
import dev.latchkey.testkit.LeaderElectionServerContract;
import dev.latchkey.testkit.LeaseCrashContract;
import dev.latchkey.testkit.ListingStoreContract;
import dev.latchkey.testkit.MultiLockContentionContract;
import dev.latchkey.testkit.MultiLockContract;
import dev.latchkey.testkit.MultiLockForceContract;
import dev.latchkey.testkit.MultiLockLeaseContract;
import dev.latchkey.testkit.PersistingStoreContract;
import dev.latchkey.testkit.ProcessContentionContract;
import dev.latchkey.testkit.ServerFaultContract;
import dev.latchkey.testkit.SharedFencingContract;
import dev.latchkey.testkit.SharedForceReleaseContract;
import dev.latchkey.testkit.SharedLeaseContract;
import dev.latchkey.testkit.SharedStoreContract;
import dev.latchkey.testkit.StoreRules;
import dev.latchkey.testkit.TreeCrashContract;
import dev.latchkey.testkit.TreeLeaseContract;
import dev.latchkey.testkit.TreeSavepointContract;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** All contracts, and the rules for stores. */
@Execution(ExecutionMode.CONCURRENT)
class MongoDbStoreIT
        implements PersistingStoreContract,
                MultiLockContract,
                MultiLockForceContract,
                MultiLockLeaseContract,
                MultiLockContentionContract,
                ExpiringStoreContract,
                SharedStoreContract,
                SharedLeaseContract,
                FencingContract,
                ExpiringFencingContract,
                SharedFencingContract,
                InspectableStoreContract,
                ListingStoreContract,
                SharedForceReleaseContract,
                IndexStoreContract,
                TreeCrashContract,
                TreeLeaseContract,
                TreeSavepointContract,
                HandoverContract,
                LeaseCrashContract,
                CutOffContract,
                ServerFaultContract,
                LeaderElectionContract,
                LeaderElectionServerContract,
                ProcessContentionContract {

    private static final AtomicInteger OTHERS = new AtomicInteger();
    private static MongoDbStore store;

    @BeforeAll
    static void open() {
        store = MongoDbStore.builder(MongoDbServer.sharedDsn("contracts")).build();
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
        return MongoDbStore.builder(MongoDbServer.sharedDsn("others_" + OTHERS.incrementAndGet()))
                .build();
    }

    @Override
    public String dsn() {
        return MongoDbServer.sharedDsn("contracts");
    }

    @Override
    public List<MongoDbServer> startServers() {
        return List.of(MongoDbServer.start());
    }

    /** The name of the process is all that is kept. */
    @Override
    public boolean showsOwners() {
        return false;
    }

    /** A holder that waits to promote renews its shared hold in the meantime. */
    @Test
    void givenOneWaitsToPromote_whenItsSharedHoldIsRefreshed_thenNewReadersAreKeptOutStill() {
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
        StoreRules.of(MongoDbStore.class)
                .testedBy(MongoDbStoreIT.class)
                .testedBy(ChangeStreamIT.class)
                .check();
    }
}
