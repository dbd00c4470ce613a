package dev.latchkey.jdbc;

import dev.latchkey.spi.PersistingStore;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** All contracts on a SQLite file: one after the other, for it has one writer at a time, and whoever waits for it too long fails. */
@Execution(ExecutionMode.SAME_THREAD)
class SqliteStoreIT implements JdbcContracts {

    @TempDir
    static Path directory;

    private static JdbcStore store;

    @BeforeAll
    static void open() {
        store = Stores.open("jdbc:sqlite:" + directory.resolve("locks.db"));
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
        return Stores.openOthers("jdbc:sqlite:" + directory.resolve("locks.db"));
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
