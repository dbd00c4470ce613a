package dev.latchkey.jdbc;

import dev.latchkey.spi.PersistingStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIf;

/** All contracts, where there is such a server: see {@link ContainerDatabase}. */
@EnabledIf(value = "isThere", disabledReason = "no MySQL: start Docker, or set LATCHKEY_TEST_MYSQL")
@Tag("slow")
class MySqlStoreIT implements JdbcContracts {

    private static JdbcStore store;

    static boolean isThere() {
        return ContainerDatabase.MYSQL.isThere();
    }

    @BeforeAll
    static void open() {
        store = Stores.open(ContainerDatabase.MYSQL.dsn());
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
        return Stores.openOthers(ContainerDatabase.MYSQL.dsn());
    }

    @Override
    public String dsn() {
        return ContainerDatabase.MYSQL.dsn();
    }
}
