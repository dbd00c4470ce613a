package dev.latchkey.jdbc;

import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.CutOffContract;
import dev.latchkey.testkit.DurableServerContract;
import dev.latchkey.testkit.LeaderElectionContract;
import dev.latchkey.testkit.TreeCrashContract;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** All contracts on a MariaDB server. */
@Tag("slow")
class MariaDbStoreIT
        implements JdbcContracts, CutOffContract, DurableServerContract, TreeCrashContract, LeaderElectionContract {

    private static JdbcStore store;

    @BeforeAll
    static void open() {
        store = Stores.open(MariaDbServer.sharedDsn());
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
        return Stores.openOthers(MariaDbServer.sharedDsn());
    }

    @Override
    public String dsn() {
        return MariaDbServer.sharedDsn();
    }

    @Override
    public List<MariaDbServer> startServers() {
        return List.of(MariaDbServer.start());
    }
}
