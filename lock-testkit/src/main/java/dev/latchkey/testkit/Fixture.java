package dev.latchkey.testkit;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;

/**
 * What a contract test works with: the store, a resource of its own, rivals, and threads that end with the test. Declared
 * as a parameter of a test in a {@link StoreContract}. Thread-safe.
 */
public final class Fixture {

    /**
     * A TTL that does not end during a test: longer than anything is waited for, so that what ends only with its lease does
     * not look as if it had ended in time. Of whole seconds, which is all that some stores count.
     */
    public static final Duration LONG_TTL = Duration.ofSeconds(TimeLimits.LIMIT.toSeconds() * 5);

    private final PersistingStore store;
    private final StoreContract contract;
    private final LockFactory locks;
    private final String resource = "contract-" + UUID.randomUUID();
    private final List<BackgroundCall<?>> calls = new CopyOnWriteArrayList<>();
    private final List<Key> keys = new CopyOnWriteArrayList<>();
    private final List<AutoCloseable> closed = new CopyOnWriteArrayList<>();

    Fixture(StoreContract contract) {
        this.contract = contract;
        this.store = contract.store();
        this.locks = new LockFactory(store);
    }

    /**
     * Returns the store under test.
     *
     * @return the same each time
     */
    public PersistingStore store() {
        return store;
    }

    /**
     * Returns the store under test as something it can do.
     *
     * @param type the capability
     * @param <T> the same
     * @return as {@link PersistingStore#capability}
     * @throws AssertionError if it cannot: its test must not join that contract
     */
    public <T> T store(Class<T> type) {
        return store.capability(type)
                .orElseThrow(() -> new AssertionError("the store joins a contract for " + type.getSimpleName()
                        + ", but its capability(" + type.getSimpleName() + ".class) is empty"));
    }

    /**
     * Opens another store with a world of its own, closed after the test.
     *
     * @return as {@link StoreContract#separateStore()}
     */
    public PersistingStore separateStore() {
        return closing(contract.separateStore());
    }

    /**
     * Opens another store with a world of its own, which the test closes.
     *
     * @return as {@link StoreContract#separateStore()}
     */
    public PersistingStore openSeparateStore() {
        return contract.separateStore();
    }

    /**
     * Has something closed after the test.
     *
     * @param opened what the test opened
     * @param <T> the same
     * @return the same
     */
    public <T extends AutoCloseable> T closing(T opened) {
        closed.add(opened);
        return opened;
    }

    /**
     * Returns a factory over the store under test, closed after the test.
     *
     * @return the same each time
     */
    public LockFactory locks() {
        return locks;
    }

    /**
     * Returns the resource of this test, which no other test uses.
     *
     * @return the same each time
     */
    public String resource() {
        return resource;
    }

    /**
     * Makes another would-be holder of {@link #resource()}, with a TTL that does not end during the test.
     *
     * @return a rival of all others
     */
    public Lock lock() {
        return lock(LONG_TTL);
    }

    /**
     * Makes another would-be holder of {@link #resource()}.
     *
     * @param ttl its TTL
     * @return a rival of all others
     */
    public Lock lock(Duration ttl) {
        return locks.createLock(resource, ttl);
    }

    /**
     * Makes another Lock for the same owner.
     *
     * @param key the owner
     * @return a Lock with a TTL that does not end during the test
     */
    public Lock lock(Key key) {
        return locks.createLock(key, LONG_TTL);
    }

    void awaitExpiry(Key key) {
        Awaitility.await("the hold to expire")
                .pollInterval(Duration.ofMillis(10))
                .atMost(TimeLimits.LIMIT)
                .until(() -> store.find(key).isEmpty());
    }

    /** Acquires for a key what has expired: of a store of several members, one may end it a moment after the others. */
    void takeOver(Key next) {
        Awaitility.await("the resource to be free")
                .pollInterval(Duration.ofMillis(10))
                .atMost(TimeLimits.LIMIT)
                .until(() -> store.save(Requests.exclusive(next)) instanceof Response.Granted);
    }

    /**
     * Makes a key for {@link #resource()}; what it holds in the store is deleted after the test.
     *
     * @return a rival of all others
     */
    public Key key() {
        return key(resource);
    }

    /**
     * Makes a key for any resource; what it holds in the store is deleted after the test.
     *
     * @param name the resource
     * @return a rival of all others
     */
    public Key key(String name) {
        Key key = Key.of(name);
        keys.add(key);
        return key;
    }

    /**
     * Runs something in a thread of its own, interrupted after the test if it still runs.
     *
     * @param call what to do
     * @param <T> what it returns
     * @return the call
     */
    public <T> BackgroundCall<T> start(Callable<T> call) {
        BackgroundCall<T> started = BackgroundCall.start(call);
        calls.add(started);
        return started;
    }

    /**
     * Runs something in a thread of its own, and returns once that thread is parked.
     *
     * @param call a wait for something held
     * @param <T> what it returns
     * @return the call
     */
    public <T> BackgroundCall<T> startWaiting(Callable<T> call) {
        BackgroundCall<T> started = start(call);
        started.awaitWaiting();
        return started;
    }

    /**
     * Waits for the end of a call that something has woken just now, such as a release.
     *
     * @param call a wait that is to end
     * @param <T> what it returns
     * @return what it returned
     * @throws Exception what it threw
     * @throws AssertionError if it does not end within {@link StoreContract#wakeUpLimit()}
     */
    public <T> T woken(BackgroundCall<T> call) throws Exception {
        return call.result(contract.wakeUpLimit());
    }

    void end() throws Exception {
        for (BackgroundCall<?> call : calls) {
            call.end();
        }
        locks.close();
        keys.forEach(store::delete);
        for (AutoCloseable opened : new ArrayList<>(closed)) {
            opened.close();
        }
    }
}
