package dev.latchkey.zookeeper;

import dev.latchkey.servers.ZooKeeperServer;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.CrashContract;
import dev.latchkey.testkit.FairStoreContract;
import dev.latchkey.testkit.InspectableStoreContract;
import dev.latchkey.testkit.LeaderElectionContract;
import dev.latchkey.testkit.LeaderElectionServerContract;
import dev.latchkey.testkit.ListingStoreContract;
import dev.latchkey.testkit.MultiLockContentionContract;
import dev.latchkey.testkit.MultiLockContract;
import dev.latchkey.testkit.OwnServer;
import dev.latchkey.testkit.PersistingStoreContract;
import dev.latchkey.testkit.ProcessBoundContract;
import dev.latchkey.testkit.ProcessContentionContract;
import dev.latchkey.testkit.SessionLossContract;
import dev.latchkey.testkit.SharedBlockingContract;
import dev.latchkey.testkit.SharedFencingContract;
import dev.latchkey.testkit.StickyContract;
import dev.latchkey.testkit.StickyCrashContract;
import dev.latchkey.testkit.StoreRules;
import dev.latchkey.testkit.TimeLimits;
import dev.latchkey.testkit.WaiterListingStoreContract;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class ZooKeeperStoreIT
        implements PersistingStoreContract,
                MultiLockContract,
                MultiLockContentionContract,
                SharedBlockingContract,
                SharedFencingContract,
                FairStoreContract,
                InspectableStoreContract,
                ListingStoreContract,
                WaiterListingStoreContract,
                ProcessBoundContract,
                StickyContract,
                StickyCrashContract,
                CrashContract,
                SessionLossContract,
                LeaderElectionContract,
                LeaderElectionServerContract,
                ProcessContentionContract {

    /** On a busy machine an answer may take seconds. After half of the session timeout it no longer proves the session. */
    private static final Duration SESSION_TIMEOUT = TimeLimits.ttl(Duration.ofSeconds(10));

    private static final String LIMITS = "maxSessionTimeout=60000";

    private static ZooKeeperServer server;
    private static ZooKeeperStore store;

    @BeforeAll
    static void open() {
        server = ZooKeeperServer.start(LIMITS);
        store = Stores.open(dsnWith("/latchkey"));
    }

    @AfterAll
    static void close() {
        store.close();
        server.close();
    }

    private static String dsnWith(String root) {
        return server.dsn() + "?sessionTimeout=" + SESSION_TIMEOUT.toMillis() + "ms&root=" + root;
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return Stores.open(dsnWith("/others-" + UUID.randomUUID()));
    }

    @Override
    public String dsn() {
        return dsnWith("/latchkey");
    }

    /** The session is shown. */
    @Override
    public boolean showsOwners() {
        return false;
    }

    /** The session of a killed holder has to end. */
    @Override
    public Duration crashTtl() {
        return SESSION_TIMEOUT;
    }

    @Override
    public List<ZooKeeperServer> startServers() {
        return List.of(ZooKeeperServer.start(LIMITS));
    }

    @Override
    public String dsn(List<? extends OwnServer> servers) {
        return servers.get(0).dsn() + "?sessionTimeout=" + SESSION_TIMEOUT.toMillis() + "ms";
    }

    @Test
    @Tag("slow")
    void keepsTheRules() {
        StoreRules.of(ZooKeeperStore.class).testedBy(ZooKeeperStoreIT.class).check();
    }
}
