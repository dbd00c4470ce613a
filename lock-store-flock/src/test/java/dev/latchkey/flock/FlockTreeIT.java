package dev.latchkey.flock;

import dev.latchkey.spi.PersistingStore;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.TreeSavepointContract;
import dev.latchkey.tree.TreeLocks;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Trees on a store without leases and without batches, their state indexes elsewhere. */
class FlockTreeIT implements TreeSavepointContract {

    @TempDir
    Path directory;

    private final InMemoryStore indexes = new InMemoryStore();
    private FlockStore store;

    @BeforeEach
    void open() {
        store = new FlockStore(directory.resolve("locks"));
    }

    @AfterEach
    void close() {
        store.close();
        indexes.close();
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return new FlockStore(directory.resolve("others"));
    }

    @Override
    public TreeLocks.Builder tree(Fixture fixture) {
        return TreeSavepointContract.super.tree(fixture).indexes(indexes);
    }
}
