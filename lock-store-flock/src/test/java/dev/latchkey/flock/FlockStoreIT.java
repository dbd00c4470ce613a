package dev.latchkey.flock;

import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.BlockingStoreContract;
import dev.latchkey.testkit.CrashContract;
import dev.latchkey.testkit.FencingContract;
import dev.latchkey.testkit.PersistingStoreContract;
import dev.latchkey.testkit.ProcessBoundContract;
import dev.latchkey.testkit.ProcessContentionContract;
import dev.latchkey.testkit.SharedOwnershipContract;
import dev.latchkey.testkit.SharedStoreContract;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

class FlockStoreIT
        implements PersistingStoreContract,
                SharedStoreContract,
                SharedOwnershipContract,
                BlockingStoreContract,
                FencingContract,
                ProcessBoundContract,
                CrashContract,
                ProcessContentionContract {

    @TempDir
    Path directory;

    private FlockStore store;

    @BeforeEach
    void open() {
        store = new FlockStore(directory.resolve("locks"));
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
        return new FlockStore(directory.resolve("others"));
    }

    @Override
    public String dsn() {
        return "flock://" + directory.resolve("locks");
    }

    @Override
    public int processes() {
        return 8;
    }

    @Override
    public int holdsPerProcess() {
        return 1_000;
    }
}
