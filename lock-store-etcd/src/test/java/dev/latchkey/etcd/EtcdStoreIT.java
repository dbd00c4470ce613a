package dev.latchkey.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.servers.EtcdServer;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.CutOffContract;
import dev.latchkey.testkit.DurableServerContract;
import dev.latchkey.testkit.ExpiringFencingContract;
import dev.latchkey.testkit.FairStoreContract;
import dev.latchkey.testkit.HandoverContract;
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
import dev.latchkey.testkit.Requests;
import dev.latchkey.testkit.SharedBlockingContract;
import dev.latchkey.testkit.SharedFencingContract;
import dev.latchkey.testkit.SharedForceReleaseContract;
import dev.latchkey.testkit.SharedLeaseContract;
import dev.latchkey.testkit.StoreRules;
import dev.latchkey.testkit.TimeLimits;
import dev.latchkey.testkit.WaiterListingStoreContract;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class EtcdStoreIT
        implements PersistingStoreContract,
                MultiLockContract,
                MultiLockForceContract,
                MultiLockLeaseContract,
                MultiLockContentionContract,
                SharedLeaseContract,
                SharedBlockingContract,
                SharedFencingContract,
                ExpiringFencingContract,
                FairStoreContract,
                InspectableStoreContract,
                ListingStoreContract,
                WaiterListingStoreContract,
                SharedForceReleaseContract,
                HandoverContract,
                LeaseCrashContract,
                CutOffContract,
                DurableServerContract,
                LeaderElectionContract,
                LeaderElectionServerContract,
                ProcessContentionContract {

    /** Of a request: that of the store on an idle machine. */
    private static final String TIMEOUT =
            "?timeout=" + TimeLimits.scaled(EtcdStore.DEFAULT_TIMEOUT).toMillis() + "ms";

    private static EtcdStore store;

    @BeforeAll
    static void open() {
        store = Stores.open(EtcdServer.sharedDsn() + TIMEOUT);
    }

    @AfterAll
    static void close() {
        store.close();
    }

    /** An owner name is shown, but not since when it holds. */
    @Override
    public boolean showsOwners() {
        return false;
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return Stores.open(EtcdServer.sharedDsn() + "/others-" + UUID.randomUUID() + TIMEOUT);
    }

    @Override
    public String dsn() {
        return EtcdServer.sharedDsn() + TIMEOUT;
    }

    /** The server counts seconds. */
    @Override
    public Duration shortTtl() {
        return Duration.ofSeconds(1);
    }

    @Override
    public boolean remembersExpiredHolds() {
        return false;
    }

    @Override
    public List<EtcdServer> startServers() {
        return List.of(EtcdServer.start());
    }

    /** By default, a client of gRPC takes no answer of more than 4 MB. */
    @Test
    void givenManyLongNames_whenListed_thenAllAre() {
        String prefix = "long-" + UUID.randomUUID() + "-";
        String rest = "k".repeat(Key.MAX_RESOURCE_BYTES - prefix.length() - 3);
        int held = 300;
        for (int i = 0; i < held; i++) {
            Key key = Key.of(prefix + (100 + i) + rest);
            assertThat(store.save(Requests.exclusive(key, Duration.ofMinutes(5))))
                    .isInstanceOf(Response.Granted.class);
        }

        assertThat(store.list(prefix, Optional.empty(), ListingStore.MAX_PAGE).resources())
                .hasSize(held);
    }

    @Test
    @Tag("slow")
    void keepsTheRules() {
        StoreRules.of(EtcdStore.class).testedBy(EtcdStoreIT.class).check();
    }
}
