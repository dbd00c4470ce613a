package dev.latchkey.zookeeper;

import dev.latchkey.servers.ZooKeeperServer;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.CrashContract;
import dev.latchkey.testkit.FairStoreContract;
import dev.latchkey.testkit.InspectableStoreContract;
import dev.latchkey.testkit.OwnServer;
import dev.latchkey.testkit.PersistingStoreContract;
import dev.latchkey.testkit.ProcessBoundContract;
import dev.latchkey.testkit.ProcessContentionContract;
import dev.latchkey.testkit.SessionLossContract;
import dev.latchkey.testkit.SharedBlockingContract;
import dev.latchkey.testkit.SharedFencingContract;
import dev.latchkey.testkit.StoreRules;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ZooKeeperStoreIT
        implements PersistingStoreContract,
                SharedBlockingContract,
                SharedFencingContract,
                FairStoreContract,
                InspectableStoreContract,
                ProcessBoundContract,
                CrashContract,
                SessionLossContract,
                ProcessContentionContract {

    private static ZooKeeperStore store;

    @BeforeAll
    static void open() {
        store = Stores.open(dsnWith("/latchkey"));
    }

    @AfterAll
    static void close() {
        store.close();
    }

    private static String dsnWith(String root) {
        return ZooKeeperServer.sharedDsn() + "?sessionTimeout=3000&root=" + root;
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

    @Override
    public List<ZooKeeperServer> startServers() {
        return List.of(ZooKeeperServer.start());
    }

    @Override
    public String dsn(List<? extends OwnServer> servers) {
        return servers.get(0).dsn() + "?sessionTimeout=3000";
    }

    @Test
    void keepsTheRules() {
        StoreRules.of(ZooKeeperStore.class).testedBy(ZooKeeperStoreIT.class).check();
    }
}
