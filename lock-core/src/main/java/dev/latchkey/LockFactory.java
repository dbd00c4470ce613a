package dev.latchkey;

import dev.latchkey.spi.Holder;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.StoreProvider;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Makes {@link Lock}s over one store.
 *
 * <p>Thread-safe. Make one per store and keep it; it starts its few threads only when a lock needs them.
 */
public final class LockFactory implements AutoCloseable {

    private final Backend backend;
    private final Optional<PersistingStore> ownStore;

    /**
     * Makes a factory over a store that stays the caller's: {@link #close()} leaves it open.
     *
     * @param store where holds are kept
     */
    public LockFactory(PersistingStore store) {
        this(Objects.requireNonNull(store, "store"), Optional.empty());
    }

    private LockFactory(PersistingStore store, Optional<PersistingStore> ownStore) {
        this.backend = new Backend(store);
        this.ownStore = ownStore;
    }

    /**
     * Opens the store a DSN names, and makes a factory that closes it again.
     *
     * <p>{@code in-memory}, {@code null} and {@code combined:consensus(dsn,dsn,dsn)} are here; each store module brings its own forms, for instance {@code flock},
     * {@code flock:///var/locks}, {@code redis://host:6379} or {@code jdbc:postgresql://host/db}.
     *
     * @param dsn which store, where
     * @return a factory that owns the store
     * @throws IllegalArgumentException if no module on the class path knows the DSN (the message names the artifact to
     *     add), or it is wrong in itself; no message repeats a password
     */
    public static LockFactory connect(String dsn) {
        PersistingStore store = StoreProvider.connect(dsn);
        return new LockFactory(store, Optional.of(store));
    }

    /**
     * Makes a Lock with a TTL of 300 s.
     *
     * @param resource what is to be protected: any text, also empty, up to {@link Key#MAX_RESOURCE_BYTES}
     * @return a new would-be holder
     * @throws IllegalArgumentException if the resource is too long or not valid Unicode
     */
    public Lock createLock(String resource) {
        return createLock(resource, Durations.DEFAULT_TTL);
    }

    /**
     * Makes a Lock.
     *
     * @param resource as {@link #createLock(String)}
     * @param ttl as {@link LockBuilder#ttl(Duration)}
     * @return a new would-be holder
     * @throws IllegalArgumentException if the resource is too long or not valid Unicode, or the TTL is out of range
     */
    public Lock createLock(String resource, Duration ttl) {
        return lock(resource).ttl(ttl).create();
    }

    /**
     * Makes a Lock for a key from elsewhere. It proves nothing until the store was asked: the Lock counts as expired until
     * its first acquire, refresh or {@link Lock#isAcquired()}.
     *
     * @param key the owner
     * @param ttl as {@link LockBuilder#ttl(Duration)}, from the next refresh or acquire on
     * @return a Lock that is the same owner as every other Lock over this key
     * @throws IllegalArgumentException if the TTL is out of range
     */
    public Lock createLock(Key key, Duration ttl) {
        Objects.requireNonNull(key, "key");
        return new Lock(backend, key, LockSettings.plain(Durations.checkTtl(ttl)), Ownership.Origin.RECEIVED);
    }

    /**
     * Begins a Lock with more than a TTL.
     *
     * @param resource as {@link #createLock(String)}
     * @return a builder
     */
    public LockBuilder lock(String resource) {
        return new LockBuilder(backend, Objects.requireNonNull(resource, "resource"));
    }

    /**
     * Looks up who holds a resource, for people and for monitoring. By the time it is read it may be over: to find out
     * whether work may begin, acquire.
     *
     * @param resource as {@link #createLock(String)}
     * @return all holders as far as they can be seen; empty if the resource is free
     * @throws UnsupportedOperationException if the store cannot tell
     * @throws LockStorageException if the store failed or did not answer
     */
    public List<Holder> holders(String resource) {
        Objects.requireNonNull(resource, "resource");
        return backend.store()
                .capability(InspectableStore.class)
                .orElseThrow(() -> new UnsupportedOperationException("this store cannot tell who holds a lock"))
                .holders(resource);
    }

    /**
     * Ends the waits, stops all renewals, releases what is held, except by Locks without auto-release, and closes the
     * store if {@link #connect} opened it. A failing release is logged. Idempotent; waits for a close that is under way. When
     * the JVM exits in an orderly way, the same is done to what is still held, for 3 s at the most.
     */
    @Override
    public void close() {
        backend.close();
        ownStore.ifPresent(PersistingStore::close);
    }
}
