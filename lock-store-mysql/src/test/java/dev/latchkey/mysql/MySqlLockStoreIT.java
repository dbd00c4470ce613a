package dev.latchkey.mysql;

import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.BlockingStoreContract;
import dev.latchkey.testkit.CrashContract;
import dev.latchkey.testkit.FairStoreContract;
import dev.latchkey.testkit.InspectableStoreContract;
import dev.latchkey.testkit.OwnServer;
import dev.latchkey.testkit.PersistingStoreContract;
import dev.latchkey.testkit.ProcessBoundContract;
import dev.latchkey.testkit.ProcessContentionContract;
import dev.latchkey.testkit.SessionLossContract;
import dev.latchkey.testkit.StoreRules;
import dev.latchkey.testkit.UnfencedContract;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class MySqlLockStoreIT
        implements PersistingStoreContract,
                BlockingStoreContract,
                UnfencedContract,
                FairStoreContract,
                InspectableStoreContract,
                ProcessBoundContract,
                CrashContract,
                SessionLossContract,
                ProcessContentionContract {

    private static MariaDbServer others;
    private static MySqlLockStore store;

    @BeforeAll
    static void open() {
        others = MariaDbServer.start();
        store = Stores.open(MariaDbServer.sharedDsn());
    }

    @AfterAll
    static void close() {
        store.close();
        others.close();
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return Stores.open(others);
    }

    @Override
    public String dsn() {
        return Stores.getLock(MariaDbServer.sharedDsn());
    }

    @Override
    public List<MariaDbServer> startServers() {
        return List.of(MariaDbServer.start());
    }

    @Override
    public String dsn(List<? extends OwnServer> servers) {
        return Stores.getLock(servers.get(0).dsn());
    }

    @Override
    public boolean endsWithItsConnection() {
        return true;
    }

    @Test
    @Tag("slow")
    void keepsTheRules() {
        StoreRules.of(MySqlLockStore.class).testedBy(MySqlLockStoreIT.class).check();
    }
}
