package dev.latchkey;

import dev.latchkey.spi.Holder;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.SharedStore;
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

    private final FactoryContext context;
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
        this.context = new FactoryContext(store);
        this.ownStore = ownStore;
    }

    /**
     * Opens the store a DSN names, and makes a factory that closes it again.
     *
     * <p>{@code in-memory}, {@code null} and {@code combined:consensus(dsn,dsn,dsn)} are here; each store module brings its own
     * forms, for instance {@code flock}, {@code flock:///var/locks}, {@code redis://host:6379} or {@code jdbc:postgresql://host/db}.
     *
     * <p>Asks the store something before it returns, so that the connection is made before the first lease counts, but waits
     * for that for 2 s at the most. A store that cannot be reached is no failure here: the first call of a Lock then says what is
     * wrong.
     *
     * @param dsn which store, where
     * @return a factory that owns the store
     * @throws IllegalArgumentException if no module on the class path knows the DSN (the message names the artifact to
     *     add), or it is wrong in itself; no message repeats a password
     */
    public static LockFactory connect(String dsn) {
        PersistingStore store = StoreProvider.connect(dsn);
        LockFactory factory = new LockFactory(store, Optional.of(store));
        factory.context.warmUp();
        return factory;
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
     * Makes a Lock for a key from elsewhere, without auto-release. As {@link #lock(Key)} with a TTL.
     *
     * @param key the owner
     * @param ttl as {@link LockBuilder#ttl(Duration)}, from the next refresh or acquire on
     * @return a Lock that is the same owner as every other Lock over this key
     * @throws IllegalArgumentException if the TTL is out of range
     */
    public Lock createLock(Key key, Duration ttl) {
        return lock(key).ttl(ttl).create();
    }

    /**
     * Begins a Lock with more than a TTL.
     *
     * @param resource as {@link #createLock(String)}
     * @return a builder
     */
    public LockBuilder lock(String resource) {
        return new LockBuilder(context, Objects.requireNonNull(resource, "resource"));
    }

    /**
     * Begins a Lock for a key from elsewhere. It proves nothing until the store was asked: the Lock counts as expired until
     * its first acquire, refresh or {@link Lock#isAcquired()}. What it holds is not released with the factory, for its owner may
     * be another process, unless {@link LockBuilder#autoRelease()} says so. A max hold and a min hold count from when this Lock
     * first found that it holds.
     *
     * @param key the owner
     * @return a builder of Locks that are the same owner as every other Lock over this key
     */
    public LockBuilder lock(Key key) {
        return new LockBuilder(context, Objects.requireNonNull(key, "key"));
    }

    /**
     * Tells what the store can do, without asking its server.
     *
     * @param capability what is wanted
     * @return whether calls that need it work; the same each time
     */
    public boolean supports(Capability capability) {
        return switch (capability) {
            case LEASES -> context.expiring().isPresent();
            case SHARING -> context.store().capability(SharedStore.class).isPresent();
            case HOLDERS -> context.store().capability(InspectableStore.class).isPresent();
            case TRAVELLING_KEYS -> context.processBound() == null;
        };
    }

    /**
     * Looks up who holds a resource, for people and for monitoring. By the time it is read it may be over: to find out
     * whether work may begin, acquire.
     *
     * @param resource as {@link #createLock(String)}
     * @return all holders as far as they can be seen; empty if the resource is free
     * @throws UnsupportedOperationException if the store cannot tell: it has no {@link Capability#HOLDERS}
     * @throws LockStorageException if the store failed or did not answer
     */
    public List<Holder> holders(String resource) {
        Objects.requireNonNull(resource, "resource");
        return context.store()
                .capability(InspectableStore.class)
                .orElseThrow(() -> new UnsupportedOperationException("this store cannot tell who holds a lock"))
                .holders(resource);
    }

    /**
     * Ends the waits, stops all renewals, releases what is held, except by Locks without auto-release, and closes the
     * store if {@link #connect} opened it. A failing release is logged. Idempotent; waits for a close that is under way. Works
     * with the thread's interrupt flag set, and keeps it. When the JVM exits in an orderly way, the same is done to what is still
     * held, for 3 s at the most.
     */
    @Override
    public void close() {
        // Clients give up at once, or half way, when their thread is interrupted.
        boolean interrupted = Thread.interrupted();
        try {
            context.close();
            ownStore.ifPresent(PersistingStore::close);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
