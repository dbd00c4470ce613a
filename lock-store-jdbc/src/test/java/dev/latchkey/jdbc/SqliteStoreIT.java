package dev.latchkey.jdbc;

import dev.latchkey.spi.PersistingStore;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** All contracts on SQLite. Each test has a file of its own, for one has one writer at a time, and whoever waits for it too long fails. */
class SqliteStoreIT implements JdbcContracts {

    @TempDir
    Path directory;

    private JdbcStore store;

    @BeforeEach
    void open() {
        store = Stores.open(dsn());
    }

    @AfterEach
    void close() {
        store.close();
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return Stores.openOthers(dsn());
    }

    @Override
    public String dsn() {
        return "jdbc:sqlite:" + directory.resolve("locks.db");
    }

    /** Each hold waits for the disk. */
    @Override
    public int listedResources() {
        return 60;
    }
}
