package dev.latchkey.jdbc;

import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.spi.PersistingStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** All contracts with MySQL's driver and dialect, on a MariaDB server: what of MySQL can be had without one. */
class MySqlDialectIT implements JdbcContracts {

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

    @Override
    public String dsn() {
        return MARIADB;
    }
}
