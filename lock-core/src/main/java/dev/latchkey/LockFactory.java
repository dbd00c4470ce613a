package dev.latchkey;

import dev.latchkey.semaphore.Semaphore;
import dev.latchkey.semaphore.SemaphoreBuilder;
import dev.latchkey.spi.ForceReleaseStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.LocalProcess;
import dev.latchkey.spi.PermitStore;
import dev.latchkey.spi.Permits;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.QueuedWaiter;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.ResourcePage;
import dev.latchkey.spi.SemaphoreStore;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StoreProvider;
import dev.latchkey.spi.WaiterListingStore;
import dev.latchkey.threads.FactoryThreads;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates {@link Lock}s over one store.
 *
 * <p>Create one factory per store and keep it. A factory starts its few threads only when a lock needs them.
 *
 * <p>Thread-safe.
 */
public final class LockFactory implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(LockFactory.class);
    private static final long WARM_UP_MILLIS = 2_000;

    private final FactoryContext context;
    private final Optional<PermitLocks> permitLocks;
    private final Optional<PersistingStore> ownStore;

    /**
     * Creates a factory over a store that the caller owns: {@link #close()} does not close the store.
     *
     * @param store the store that keeps the holds
     */
    public LockFactory(PersistingStore store) {
        this(builder(store), store, Optional.empty());
    }

    private LockFactory(Builder options, PersistingStore store, Optional<PersistingStore> ownStore) {
        String owner = options.owner == null ? LocalProcess.ownerName() : options.owner;
        this.context = new FactoryContext(store, new FactoryThreads(), owner, options.listeners);
        this.permitLocks = store.capability(SemaphoreStore.class)
                .map(SemaphoreStore::permits)
                .map(kept -> new PermitLocks(kept, context.derived(kept)));
        this.ownStore = ownStore;
    }

    /** The store of permits, and the context of the locks over it: each permit is one. */
    private record PermitLocks(PermitStore store, FactoryContext context) {}

    /**
     * Returns a builder for a factory with options, over a store that the caller owns: {@link #close()} does not close the
     * store.
     *
     * @param store the store that keeps the holds
     * @return a builder
     */
    public static Builder builder(PersistingStore store) {
        Objects.requireNonNull(store, "store");
        return new Builder(options -> new LockFactory(options, store, Optional.empty()));
    }

    /**
     * Returns a builder for a factory with options, over the store that a DSN names, as {@link #connect} opens it.
     *
     * @param dsn the kind of store and its address
     * @return a builder
     */
    public static Builder builder(String dsn) {
        Objects.requireNonNull(dsn, "dsn");
        return new Builder(options -> connect(options, dsn));
    }

    /**
     * Opens the store that a DSN names, and creates a factory that closes this store with {@link #close()}.
     *
     * <p>{@code in-memory}, {@code null} and {@code combined:consensus(dsn,dsn,dsn)} are part of this artifact. Each
     * store module adds its own forms, for example {@code flock}, {@code flock:///var/locks}, {@code redis://host:6379}
     * or {@code jdbc:postgresql://host/db}.
     *
     * <p>The method sends a request to the store before it returns, so that a connection exists before the first lease
     * starts. It waits for the answer for at most 2 s. An unreachable store is not an error here: the first call of a
     * Lock then reports the failure.
     *
     * @param dsn the kind of store and its address
     * @return a factory that owns the store
     * @throws IllegalArgumentException if no module on the class path supports the DSN (the message names the artifact to
     *     add), or if the DSN is invalid; no message contains a password
     */
    public static LockFactory connect(String dsn) {
        return builder(dsn).build();
    }

    private static LockFactory connect(Builder options, String dsn) {
        PersistingStore store = StoreProvider.connect(dsn);
        LockFactory factory = new LockFactory(options, store, Optional.of(store));
        factory.warmUp();
        return factory;
    }

    /** Has the store connect, for which a lease that is counted already must not wait. What fails is told by the first lock. */
    private void warmUp() {
        Future<?> warm = context.threads().end(() -> context.store().find(Key.of("")));
        try {
            warm.get(WARM_UP_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            log.debug(
                    "lock.store_not_reached store={}",
                    context.store().getClass().getSimpleName(),
                    e);
        }
    }

    /**
     * Leaves the release of locks at the exit of the JVM to the caller, who has to call {@link #close()}.
     *
     * <p>This is for containers, which first let running work finish. By default, all locks are released as soon as the
     * exit begins, while other threads may still work under them.
     *
     * @return this factory
     */
    public LockFactory withoutShutdownHook() {
        FactoryContext.ShutdownHook.forgets(context);
        return this;
    }

    /**
     * Creates a Lock with a TTL of 300 s.
     *
     * @param resource the name of what the lock protects: any text, including the empty one, of at most
     *     {@link Key#MAX_RESOURCE_BYTES} bytes in UTF-8
     * @return a new Lock, which is a separate owner and holds nothing yet
     * @throws IllegalArgumentException if the resource is too long or not valid Unicode
     */
    public Lock createLock(String resource) {
        return createLock(resource, LockSettings.DEFAULT_TTL);
    }

    /**
     * Creates a Lock with the given TTL.
     *
     * @param resource the name of what the lock protects: any text, including the empty one, of at most
     *     {@link Key#MAX_RESOURCE_BYTES} bytes in UTF-8
     * @param ttl the time after which the store ends a hold that is not refreshed: from 3 ms to 100 years, within the
     *     limits of the store; ignored by stores without leases
     * @return a new Lock, which is a separate owner and holds nothing yet
     * @throws IllegalArgumentException if the resource is too long or not valid Unicode, or if the TTL is out of range
     */
    public Lock createLock(String resource, Duration ttl) {
        return lock(resource).ttl(ttl).create();
    }

    /**
     * Creates a Lock for a key that was received from elsewhere, without auto-release. This is {@link #lock(Key)} with a
     * TTL.
     *
     * @param key the owner
     * @param ttl the time after which the store ends a hold that is not refreshed, starting with the next refresh or
     *     acquire: from 3 ms to 100 years, within the limits of the store; ignored by stores without leases
     * @return a Lock that is the same owner as every other Lock with this key
     * @throws IllegalArgumentException if the TTL is out of range
     */
    public Lock createLock(Key key, Duration ttl) {
        return lock(key).ttl(ttl).create();
    }

    /**
     * Returns a builder for a Lock with options.
     *
     * @param resource the name of what the lock protects: any text, including the empty one, of at most
     *     {@link Key#MAX_RESOURCE_BYTES} bytes in UTF-8
     * @return a builder of Locks, each of which is a separate owner; {@link LockBuilder#create()} refuses a name that is too
     *     long or not valid Unicode
     */
    public LockBuilder lock(String resource) {
        return new LockBuilder(context, Objects.requireNonNull(resource, "resource"));
    }

    /**
     * Returns a builder for a Lock of several resources, which acquires all of them or none.
     *
     * <p>They are held exclusively, by one Lock, which is renewed, watched and released as a whole. It is lost with the first
     * of them that is lost; the others stay held until it is released, or their leases end. Callers that ask for overlapping
     * resources never wait for each other in a circle: no resource is held while another one is waited for. An acquire of
     * what is free takes one request where the store takes batches (in memory, Redis unless the resources are on several
     * servers of a cluster, SQL), else one for each resource, in the order of their names. A large set may wait long while
     * others keep acquiring its parts.
     *
     * <p>A name that is given twice counts once. With one name this is {@link #lock(String)}. No name covers another one: to
     * lock a part of a tree, use a tree.
     *
     * @param resources the names of what the lock protects, in any order, each as for {@link #lock(String)}
     * @return a builder of Locks, each of which is a separate owner, and has no {@link Lock#key()}
     * @throws IllegalArgumentException if there is no resource, or if one is too long or not valid Unicode
     */
    public LockBuilder all(Collection<String> resources) {
        List<String> names = List.copyOf(new TreeSet<>(resources));
        if (names.isEmpty()) {
            throw new IllegalArgumentException("there is nothing to lock: name at least one resource");
        }
        names.forEach(Key::of);
        return names.size() == 1 ? lock(names.get(0)) : new LockBuilder(context, names);
    }

    /**
     * Returns a builder for a Lock with options, for a key that was received from elsewhere.
     *
     * <p>The key does not prove that the lock is held. The Lock counts as expired until its first acquire, refresh or
     * {@link Lock#isAcquired()} has asked the store. Closing the factory does not release its hold, because the owner may
     * be another process, unless {@link LockBuilder#autoRelease()} is set. Maximum and minimum hold times count from the
     * time at which this Lock first found that it holds the lock.
     *
     * @param key the owner
     * @return a builder of Locks that are the same owner as every other Lock with this key
     */
    public LockBuilder lock(Key key) {
        return new LockBuilder(context, Objects.requireNonNull(key, "key"));
    }

    /**
     * Returns a builder for a counting semaphore: at most so many permits are held at the same time, by all processes together.
     * A semaphore and a lock with the same name have nothing to do with each other.
     *
     * @param name the name of what the semaphore protects: any text of at most {@link Key#MAX_RESOURCE_BYTES} bytes in UTF-8,
     *     less 40
     * @param permits how many permits there are: at least 1. {@link Semaphore} says what happens if processes know different
     *     numbers
     * @return a builder
     * @throws IllegalArgumentException if {@code permits} is less than 1
     * @throws UnsupportedOperationException if the store has no {@link Capability#SEMAPHORES}
     */
    public SemaphoreBuilder semaphore(String name, int permits) {
        PermitLocks kept = permitLocks();
        return new SemaphoreBuilder(resource -> new LockBuilder(kept.context(), resource), kept.store(), name, permits);
    }

    /**
     * Returns a builder for Locks that hold permits of a semaphore, for code that works with a {@link Lock}. Each Lock acquires
     * so many permits, exclusively or shared makes no difference, and has no fencing token. Its {@link Lock#key()} is for
     * {@link #permits(Key)}: {@link #lock(Key)} would make a lock of it, which has nothing to do with the semaphore.
     *
     * @param name the name of the semaphore
     * @param permits how many permits there are
     * @param count how many of them each Lock acquires
     * @return a builder of Locks, each of which is a separate owner; {@link LockBuilder#create()} refuses a name that is too
     *     long or not valid Unicode
     * @throws IllegalArgumentException if a number is out of range
     * @throws UnsupportedOperationException if the store has no {@link Capability#SEMAPHORES}
     */
    public LockBuilder permits(String name, int permits, int count) {
        return new LockBuilder(permitLocks().context(), new Permits(name, count, permits).resource());
    }

    /**
     * Returns a builder for Locks that hold permits, for the key of such a Lock that was received from elsewhere. What
     * {@link #lock(Key)} says of the key of a lock is so here.
     *
     * @param key the owner, of a Lock over permits
     * @return a builder of Locks that are the same owner as every other Lock with this key
     * @throws IllegalArgumentException if it is the key of anything else
     * @throws UnsupportedOperationException if the store has no {@link Capability#SEMAPHORES}
     */
    public LockBuilder permits(Key key) {
        Permits unused = Permits.of(key);
        return new LockBuilder(permitLocks().context(), key);
    }

    private PermitLocks permitLocks() {
        return permitLocks.orElseThrow(() -> new UnsupportedOperationException(
                "this store cannot count permits: use a store with Capability.SEMAPHORES for semaphores"));
    }

    /**
     * Returns whether the store has a capability, without asking its server; but a JDBC store opens its first connection to say
     * whether its database has {@link Capability#STICKY}.
     *
     * @param capability the capability
     * @return whether calls that need the capability work; the same at each call, except {@link Capability#STICKY} of a JDBC
     *     store: it is true while the database cannot be reached, and if that then proves unable to recall holds, an acquire of
     *     a sticky Lock throws an {@link UnsupportedOperationException}
     */
    public boolean supports(Capability capability) {
        return switch (capability) {
            case LEASES -> context.expiring().isPresent();
            case SHARING -> context.store().capability(SharedStore.class).isPresent();
            case HOLDERS -> context.store().capability(InspectableStore.class).isPresent();
            case LISTING -> context.store().capability(ListingStore.class).isPresent();
            case WAITERS -> context.store().capability(WaiterListingStore.class).isPresent();
            case FORCE_RELEASE ->
                context.store().capability(ForceReleaseStore.class).isPresent();
            case TRAVELLING_KEYS -> context.processBound() == null;
            case SEMAPHORES -> permitLocks.isPresent();
            case STICKY -> context.store().capability(RecallableStore.class).isPresent();
        };
    }

    /**
     * Returns the current holders of a resource, for people and for monitoring. The result may be outdated when it is
     * read: to find out whether work may start, acquire the lock.
     *
     * @param resource the name of what the lock protects
     * @return all holders that are visible; empty if the resource is free
     * @throws IllegalArgumentException if the resource is too long, or is not valid Unicode (an unpaired surrogate)
     * @throws UnsupportedOperationException if the store has no {@link Capability#HOLDERS}
     * @throws LockStorageException if the store failed or did not answer
     */
    public List<Holder> holders(String resource) {
        Key.checkResource(resource);
        return asked(InspectableStore.class, "return who holds a lock").holders(resource);
    }

    /**
     * Returns who waits for a resource, for people and for monitoring. The result may be outdated when it is read.
     *
     * @param resource the name of what the lock protects
     * @return who waits, the next one to be granted first; empty if nobody does
     * @throws IllegalArgumentException if the resource is too long, or is not valid Unicode (an unpaired surrogate)
     * @throws UnsupportedOperationException if the store has no {@link Capability#WAITERS}
     * @throws LockStorageException if the store failed or did not answer
     */
    public List<QueuedWaiter> waiters(String resource) {
        Key.checkResource(resource);
        return asked(WaiterListingStore.class, "return who waits for a lock").waiters(resource);
    }

    /**
     * Lists what is held by any process, for people and for monitoring, one page at a time. A resource that is held from
     * the first page to the last is listed exactly once.
     *
     * @param prefix what the names of the resources start with; empty for all
     * @param after {@link ResourcePage#next()} of the page before; empty for the first page
     * @param limit the largest number of resources to return: from 1 to {@link ListingStore#MAX_PAGE}
     * @return the page
     * @throws IllegalArgumentException if the limit is out of range, or the prefix is not valid Unicode (an unpaired surrogate)
     * @throws UnsupportedOperationException if the store has no {@link Capability#LISTING}
     * @throws LockStorageException if the store failed or did not answer
     */
    public ResourcePage list(String prefix, Optional<String> after, int limit) {
        Key.checkPrefix(prefix);
        Objects.requireNonNull(after, "after");
        if (limit < 1 || limit > ListingStore.MAX_PAGE) {
            throw new IllegalArgumentException(
                    "limit must be from 1 to " + ListingStore.MAX_PAGE + ", but is " + limit);
        }
        return asked(ListingStore.class, "list what is held").list(prefix, after, limit);
    }

    /**
     * Ends the exclusive hold of somebody else, for operators. The next waiter is granted the lock, as after a release.
     * The holder loses it: with {@link LossReason#FORCED}, at once, where the store can send it a message (in memory, Redis);
     * else its next renewal finds the hold gone, and reports the reason that the store knows. Until then it may go on with its
     * work, so that two may work at once: this is for a holder that is known to be stuck or gone.
     *
     * @param resource the name of what the lock protects
     * @param fencingToken the fencing token of the hold to end, as {@link #holders} shows it; a newer hold is left alone
     * @return true if this call ended the hold; false if it did not exist any more
     * @throws IllegalArgumentException if the resource is too long, or is not valid Unicode (an unpaired surrogate)
     * @throws UnsupportedOperationException if the store has no {@link Capability#FORCE_RELEASE}
     * @throws LockStorageException if the store failed or did not answer; the hold may then have ended or not
     */
    public boolean forceRelease(String resource, long fencingToken) {
        Key.checkResource(resource);
        return asked(ForceReleaseStore.class, "end the hold of somebody else").forceRelease(resource, fencingToken);
    }

    private <S extends PersistingStore> S asked(Class<S> capability, String what) {
        return context.store()
                .capability(capability)
                .orElseThrow(() -> new UnsupportedOperationException("this store cannot " + what));
    }

    /**
     * Ends all waits, stops all renewals, releases what is held, except by Locks without auto-release, and closes the
     * store if {@link #connect} opened it.
     *
     * <p>Failing releases are logged. The call is idempotent, and waits for a close that is in progress. It works with
     * the thread's interrupt flag set, and keeps the flag. A normal exit of the JVM does the same for what is still held,
     * for at most 3 s, unless {@link #withoutShutdownHook} was called.
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

    /**
     * Returns whether {@link #close()} was called, or the exit of the JVM has closed this factory: nothing can be acquired any
     * more.
     *
     * @return true from the beginning of the close on
     */
    public boolean isClosed() {
        return context.isClosed();
    }

    /** Options of a factory. Not thread-safe. */
    public static final class Builder {

        private final Function<Builder, LockFactory> opening;
        private final List<LockListener> listeners = new ArrayList<>();
        private @Nullable String owner;

        private Builder(Function<Builder, LockFactory> opening) {
            this.opening = opening;
        }

        /**
         * Sets the name under which other processes see who holds or waits for a lock, on stores that keep it: in memory,
         * Redis, SQL tables, etcd and DynamoDB, and combined stores of these. Other stores show the process or the session
         * instead. The default is the
         * process and its host, such as {@code host/4711}.
         *
         * @param name not blank, at most {@link Request#MAX_OWNER_BYTES} bytes in UTF-8, without control characters
         * @return this
         * @throws IllegalArgumentException if the name is blank or too long, contains a control character, or is not valid
         *     Unicode
         */
        public Builder owner(String name) {
            boolean isPrintable = name.chars().noneMatch(Character::isISOControl);
            int bytes = name.getBytes(StandardCharsets.UTF_8).length;
            boolean isUnicode = StandardCharsets.UTF_8.newEncoder().canEncode(name);
            if (name.isBlank() || bytes > Request.MAX_OWNER_BYTES || !isPrintable || !isUnicode) {
                throw new IllegalArgumentException("the owner must be a name of at most " + Request.MAX_OWNER_BYTES
                        + " bytes in valid UTF-8, without control characters, but is \"" + LockException.shown(name)
                        + "\" (" + bytes + " bytes)");
            }
            this.owner = name;
            return this;
        }

        /**
         * Adds a listener to all locks of the factory.
         *
         * @param listener hears what they do
         * @return this
         */
        public Builder listener(LockListener listener) {
            listeners.add(Objects.requireNonNull(listener, "listener"));
            return this;
        }

        /**
         * Creates a factory. If the builder was made from a DSN, this opens the store and sends it a first request, as
         * {@link LockFactory#connect} does.
         *
         * @return a factory with these options
         * @throws IllegalArgumentException if no module on the class path supports the DSN, or if the DSN is invalid
         */
        public LockFactory build() {
            return opening.apply(this);
        }
    }
}
