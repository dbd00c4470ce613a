package dev.latchkey.flock;

import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.CrashContract;
import dev.latchkey.testkit.FairStoreContract;
import dev.latchkey.testkit.InspectableStoreContract;
import dev.latchkey.testkit.LeaderElectionContract;
import dev.latchkey.testkit.MultiLockContentionContract;
import dev.latchkey.testkit.MultiLockContract;
import dev.latchkey.testkit.PersistingStoreContract;
import dev.latchkey.testkit.ProcessBoundContract;
import dev.latchkey.testkit.ProcessContentionContract;
import dev.latchkey.testkit.ServerlessContract;
import dev.latchkey.testkit.SharedBlockingContract;
import dev.latchkey.testkit.SharedFencingContract;
import dev.latchkey.testkit.StoreRules;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FlockStoreIT
        implements PersistingStoreContract,
                MultiLockContentionContract,
                SharedBlockingContract,
                SharedFencingContract,
                FairStoreContract,
                InspectableStoreContract,
                MultiLockContract,
                ProcessBoundContract,
                CrashContract,
                ServerlessContract,
                LeaderElectionContract,
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

    @Test
    @Tag("slow")
    void keepsTheRules() {
        StoreRules.of(FlockStore.class)
                .testedBy(FlockStoreIT.class)
                .readingTheWallClockIn(FileRecord.class, "fencing tokens are led by it, and no lease depends on it")
                .check();
    }
}
