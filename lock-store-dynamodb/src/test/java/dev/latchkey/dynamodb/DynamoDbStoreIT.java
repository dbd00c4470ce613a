package dev.latchkey.dynamodb;

import dev.latchkey.servers.DynamoDbServer;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.CutOffContract;
import dev.latchkey.testkit.DurableServerContract;
import dev.latchkey.testkit.ExpiringFencingContract;
import dev.latchkey.testkit.HandoverContract;
import dev.latchkey.testkit.InspectableStoreContract;
import dev.latchkey.testkit.LeaseCrashContract;
import dev.latchkey.testkit.PersistingStoreContract;
import dev.latchkey.testkit.ProcessContentionContract;
import dev.latchkey.testkit.StoreRules;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class DynamoDbStoreIT
        implements PersistingStoreContract,
                ExpiringFencingContract,
                InspectableStoreContract,
                HandoverContract,
                LeaseCrashContract,
                CutOffContract,
                DurableServerContract,
                ProcessContentionContract {

    private static PersistingStore store;

    @BeforeAll
    static void open() {
        store = new DynamoDbStore.Provider().open(DynamoDbServer.sharedDsn());
    }

    @AfterAll
    static void close() throws Exception {
        store.close();
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return new DynamoDbStore.Provider()
                .open(DynamoDbServer.sharedDsn().replace("/locks?", "/others-" + UUID.randomUUID() + "?"));
    }

    @Override
    public String dsn() {
        return DynamoDbServer.sharedDsn();
    }

    @Override
    public List<DynamoDbServer> startServers() {
        return List.of(DynamoDbServer.start());
    }

    @Test
    @Tag("slow")
    void keepsTheRules() {
        StoreRules.of(DynamoDbStore.class)
                .testedBy(DynamoDbStoreIT.class)
                .readingTheWallClockIn(
                        CleaningTime.class, "tells DynamoDB when it may delete an item, which no store reads")
                .check();
    }
}
