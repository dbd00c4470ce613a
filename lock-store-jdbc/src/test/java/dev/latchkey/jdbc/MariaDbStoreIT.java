package dev.latchkey.jdbc;

import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.MariaDbServer;
import dev.latchkey.testkit.TreeCrashContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** All contracts on a MariaDB server. */
class MariaDbStoreIT implements JdbcContracts, TreeCrashContract {

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
}
