package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.store.InMemoryStore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class InMemoryStoreTest
        implements PersistingStoreContract,
                SharedLeaseContract,
                SharedBlockingContract,
                SharedFencingContract,
                FencingStoreContract,
                ExpiringFencingContract,
                FairStoreContract,
                ProcessBoundContract,
                InspectableStoreContract,
                ListingStoreContract,
                WaiterListingStoreContract,
                ImmediateForceReleaseContract,
                SharedForceReleaseContract,
                IndexedBatchContract,
                MultiLockContract,
                MultiLockForceContract,
                MultiLockLeaseContract,
                TreeLeaseContract,
                TreeSavepointContract,
                LeaderElectionContract,
                FairSemaphoreContract,
                StickyForceReleaseContract,
                StickyLeaseContract,
                SingleProcessContract {

    private final InMemoryStore store = new InMemoryStore();

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return new InMemoryStore();
    }

    @Override
    public String dsnOfItsKind() {
        return "in-memory";
    }

    @Override
    public int forceReleaseRaces() {
        return 10_000;
    }

    @Override
    public int cancellationRaces() {
        return 10_000;
    }

    /** A9: the second was granted anew, so that the first one's refresh found its hold lost. */
    @Test
    void givenTwoLocksOverOneKeyWait_whenItIsFree_thenBothHoldItAndCanRefresh(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        Key key = fixture.key();
        Lock first = fixture.lock(key);
        Lock second = fixture.lock(key);
        BackgroundCall<Lock> one = fixture.startWaiting(first::acquire);
        BackgroundCall<Lock> other = fixture.startWaiting(second::acquire);

        assertThat(holder.release()).isTrue();

        assertThat(one.result().refresh().fencingToken())
                .isPresent()
                .isEqualTo(other.result().refresh().fencingToken());
    }

    @Test
    @Tag("slow")
    void joinsAllItsContracts() {
        StoreRules.of(InMemoryStore.class).testedBy(InMemoryStoreTest.class).checkContracts();
    }
}
