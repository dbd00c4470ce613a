package dev.latchkey.jdbc;

import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.spi.PersistingStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * MySQL's driver and dialect, on a MariaDB server: what of MySQL can be had without one. How that server treats processes that die
 * shows {@link MariaDbStoreIT}.
 */
class MySqlDialectIT implements OneProcessContracts {

    private static final String MARIADB = MariaDbServer.sharedDsn()
            .replaceFirst("^mariadb:", "mysql:")
            .replaceFirst("sslMode=disable", "sslMode=DISABLED");

    private static JdbcStore store;

    @BeforeAll
    static void open() {
        store = Stores.open(MARIADB);
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
        return Stores.openOthers(MARIADB);
    }
}
