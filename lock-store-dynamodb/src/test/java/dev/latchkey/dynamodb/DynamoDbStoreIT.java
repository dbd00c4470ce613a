package dev.latchkey.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.servers.DynamoDbServer;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.testkit.CutOffContract;
import dev.latchkey.testkit.DurableServerContract;
import dev.latchkey.testkit.ExpiringFencingContract;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.ForceReleaseStoreContract;
import dev.latchkey.testkit.HandoverContract;
import dev.latchkey.testkit.InspectableStoreContract;
import dev.latchkey.testkit.LeaderElectionContract;
import dev.latchkey.testkit.LeaderElectionServerContract;
import dev.latchkey.testkit.LeaseCrashContract;
import dev.latchkey.testkit.ListingStoreContract;
import dev.latchkey.testkit.MultiLockContentionContract;
import dev.latchkey.testkit.MultiLockContract;
import dev.latchkey.testkit.MultiLockForceContract;
import dev.latchkey.testkit.MultiLockLeaseContract;
import dev.latchkey.testkit.PersistingStoreContract;
import dev.latchkey.testkit.ProcessContentionContract;
import dev.latchkey.testkit.StoreRules;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
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
                MultiLockContract,
                MultiLockForceContract,
                MultiLockLeaseContract,
                MultiLockContentionContract,
                ExpiringFencingContract,
                InspectableStoreContract,
                ListingStoreContract,
                ForceReleaseStoreContract,
                HandoverContract,
                LeaseCrashContract,
                CutOffContract,
                DurableServerContract,
                LeaderElectionContract,
                LeaderElectionServerContract,
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

    /** An owner name is shown, but there is no clock to tell since when it holds. */
    @Override
    public boolean showsOwners() {
        return false;
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

    /** Its key has only the beginning of the name. */
    @Test
    void givenALongName_whenListed_thenAllOfIt(Fixture fixture) {
        String name = fixture.resource() + "\uD83D\uDD12".repeat(400);
        assertThat(store.save(request(fixture.key(name), ""))).isInstanceOf(Response.Granted.class);

        assertThat(listed(name)).extracting(ListedResource::resource).containsExactly(name);
        assertThat(listed(name + "x")).isEmpty();
    }

    @Test
    void givenAnOwnerName_whenListed_thenItIsShown(Fixture fixture) {
        assertThat(store.save(request(fixture.key(), "orders <1>"))).isInstanceOf(Response.Granted.class);

        assertThat(listed(fixture.resource()))
                .singleElement()
                .satisfies(resource -> assertThat(resource.holders())
                        .extracting(Holder::description)
                        .containsExactly(Optional.of("orders <1>")));
    }

    private static Request request(Key key, String owner) {
        return new Request(key, LockMode.EXCLUSIVE, Duration.ofMinutes(1), RetryIntent.ONCE, LeaseChange.EXTEND, owner);
    }

    private static List<ListedResource> listed(String prefix) {
        return store.capability(ListingStore.class)
                .orElseThrow()
                .list(prefix, Optional.empty(), ListingStore.MAX_PAGE)
                .resources();
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
