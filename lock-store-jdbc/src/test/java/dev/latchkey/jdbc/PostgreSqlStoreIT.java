package dev.latchkey.jdbc;

import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.CutOffContract;
import dev.latchkey.testkit.DurableServerContract;
import dev.latchkey.testkit.HandoffStoreContract;
import dev.latchkey.testkit.LeaderElectionContract;
import dev.latchkey.testkit.LeaderElectionServerContract;
import dev.latchkey.testkit.SharedNotifyingContract;
import dev.latchkey.testkit.StickyCrashContract;
import dev.latchkey.testkit.StickyForceReleaseContract;
import dev.latchkey.testkit.StickyLeaseContract;
import dev.latchkey.testkit.StoreRules;
import dev.latchkey.testkit.TreeCrashContract;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** All contracts on a PostgreSQL server, which alone announces releases, and passes holds on. */
@Tag("slow")
class PostgreSqlStoreIT
        implements JdbcContracts,
                SharedNotifyingContract,
                HandoffStoreContract,
                CutOffContract,
                DurableServerContract,
                LeaderElectionContract,
                LeaderElectionServerContract,
                StickyForceReleaseContract,
                StickyLeaseContract,
                StickyCrashContract,
                TreeCrashContract {

    private static JdbcStore store;

    @BeforeAll
    static void open() {
        store = Stores.open(PostgresServer.sharedDsn());
    }

    @AfterAll
    static void close() {
        store.close();
    }

    @Override
    public Duration wakeUpLimitElsewhere() {
        return wakeUpLimit();
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return Stores.openOthers(PostgresServer.sharedDsn());
    }

    @Override
    public String dsn() {
        return PostgresServer.sharedDsn();
    }

    @Override
    public int multiLockProcesses() {
        return 8;
    }

    @Override
    public List<PostgresServer> startServers() {
        return List.of(PostgresServer.start());
    }

    /** The contracts alone: a guard is public beside the store. */
    @Test
    void joinsTheContracts() {
        StoreRules.of(JdbcStore.class).testedBy(PostgreSqlStoreIT.class).checkContracts();
    }
}
