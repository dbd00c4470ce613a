package dev.latchkey.testkit;

import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.NotifyingStore;
import dev.latchkey.spi.PersistingStore;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.ResourceLockTarget;

/**
 * What all contracts need to know of the store under test; has no tests of its own. A whole test class:
 *
 * <pre>{@code
 * class FlockStoreIT
 *         implements PersistingStoreContract, SharedBlockingContract, SharedFencingContract, FairStoreContract,
 *                 InspectableStoreContract, ProcessBoundContract, CrashContract, ProcessContentionContract {
 *
 *     @TempDir Path directory;
 *     private FlockStore store;
 *
 *     @BeforeEach void open() { store = new FlockStore(directory.resolve("locks")); }
 *     @AfterEach void close() { store.close(); }
 *
 *     @Override public PersistingStore store() { return store; }
 *     @Override public PersistingStore separateStore() { return new FlockStore(directory.resolve("others")); }
 *     @Override public String dsn() { return "flock://" + directory.resolve("locks"); }
 *
 *     @Test void keepsTheRules() { StoreRules.of(FlockStore.class).testedBy(FlockStoreIT.class).check(); }
 * }
 * }</pre>
 *
 * <p>Each test uses resources of its own, so that the store may be shared by all tests and hold other things as well. The
 * tests may therefore run concurrently, if JUnit's parallel execution is on and the test class says
 * {@code @Execution(ExecutionMode.CONCURRENT)}; those that count or disturb what others use are {@link RunsAlone}. A test that
 * takes longer than half an hour is interrupted and fails.
 */
@ExtendWith(ContractExtension.class)
@Timeout(value = 30, unit = TimeUnit.MINUTES)
@ResourceLock(value = StoreContract.SHARED_BY_ALL, mode = ResourceAccessMode.READ, target = ResourceLockTarget.CHILDREN)
public interface StoreContract {

    /** The name of JUnit's resource that each contract test reads, and that one that {@link RunsAlone} writes. */
    String SHARED_BY_ALL = "dev.latchkey.testkit.shared-by-all-tests";

    /**
     * Returns the store under test: the same throughout one test, fresh or shared by all tests. The test class opens it,
     * and closes it if it wants that.
     *
     * @return the store
     */
    PersistingStore store();

    /**
     * Opens a store of the same class with a world of its own: another directory, database or prefix. What is held there
     * has nothing to do with {@link #store()}. The contracts close it.
     *
     * @return a new store
     */
    PersistingStore separateStore();

    /**
     * Returns a TTL that tests can wait for. A store that counts in whole seconds says so here.
     *
     * @return a short TTL the store keeps exactly, 600 ms on an idle machine unless overridden
     */
    default Duration shortTtl() {
        return TimeLimits.ttl(Duration.ofMillis(300));
    }

    /**
     * Returns how long it may take from a release to the grant of the next waiter. A store that queues waiters or tells them
     * claims to push: it is late if the waiter would have had to look by itself.
     *
     * @return 4 s if the store claims to push, else as long as anything may take, unless overridden
     */
    default Duration wakeUpLimit() {
        boolean pushes = store().capability(BlockingStore.class).isPresent()
                || store().capability(NotifyingStore.class).isPresent();
        return pushes ? TimeLimits.untilWoken() : TimeLimits.LIMIT;
    }

    /**
     * Returns a TTL that a few calls of the store fit into on a busy machine, and that tests can wait for.
     *
     * @return four times the short one, and at least 2 s
     */
    default Duration workingTtl() {
        Duration four = shortTtl().multipliedBy(4);
        return four.compareTo(Duration.ofSeconds(2)) < 0 ? Duration.ofSeconds(2) : four;
    }
}
