package dev.latchkey.etcd;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.ForceReleaseStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.QueuedWaiter;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.ResourcePage;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StoreProvider;
import dev.latchkey.spi.WaiterListingStore;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A lock store that uses keys and leases of an etcd cluster, version 3.4 or newer. A hold lasts until it is released or until
 * its TTL is over, by the clock of the cluster's leader.
 *
 * <p>Acquiring a free resource takes one round trip, if this store has asked for a lease within the last tenth of the TTL, and
 * two otherwise. Releasing it takes one. Waiters stand in a line across all processes; each is woken by the one before
 * it.
 *
 * <p>A fencing token is the revision of the cluster at which the hold began, and grows as long as the cluster keeps its data.
 *
 * <p>Thread-safe.
 */
public final class EtcdStore
        implements SharedStore, ExpiringStore, BlockingStore, ListingStore, WaiterListingStore, ForceReleaseStore {

    /** What the keys of all locks begin with, by default. */
    static final String DEFAULT_ROOT = "latchkey";

    /** How long a request may take by default. */
    static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(5);

    private final Calls calls;
    private final Transactions transactions;
    private final Leases leases;
    private final Holds holds;
    private final Services services;
    private final Waits waits = new Waits();
    private final AtomicBoolean isClosed = new AtomicBoolean();

    private EtcdStore(Builder builder) {
        this.calls = new Calls(builder.endpoints, builder.timeout);
        this.transactions = new Transactions(calls, builder.root);
        this.leases = new Leases(calls);
        this.holds = new Holds(transactions, leases);
        this.services = new Services(
                calls, transactions, leases, holds, new WaiterLease(calls), new Watches(calls), new ResourceMutexes());
    }

    /**
     * Returns a builder of a store that connects to a cluster without TLS.
     *
     * @param servers the servers of one cluster, each as {@code host:port}
     * @return a builder
     */
    public static Builder builder(String... servers) {
        return new Builder(new Endpoints(List.of(servers), false, Optional.empty()));
    }

    @Override
    public Response save(Request request) {
        return holds.save(request);
    }

    @Override
    public Response refresh(Request request) {
        return holds.refresh(request);
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        long endNanos = System.nanoTime() + maxWait.toNanos();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        WaitEnd end = waits.begin(endNanos, withdrawn);
        try {
            Response response = await(request, end);
            // It may have given up because of that, and then knows nothing of a conflict.
            if (response instanceof Response.Conflicted && waits.isClosed()) {
                throw Failures.closed(request.key().resource());
            }
            return response;
        } finally {
            waits.end(end);
        }
    }

    private Response await(Request request, WaitEnd end) throws InterruptedException {
        LockKeys keys = transactions.keys(request.key());
        Optional<LockMode> claim = request.key().held().map(Key.Held::mode);
        if (claim.isPresent()) {
            return claim.get() == LockMode.SHARED && request.mode() == LockMode.EXCLUSIVE
                    ? new PromotionWait(request, keys, services).await(end)
                    : holds.save(request);
        }
        Holds.Outcome outcome = new QueueWait(request, keys, services).await(end);
        boolean isReader = outcome.isHolder() && outcome.response() instanceof Response.Conflicted;
        return isReader ? new PromotionWait(request, keys, services).await(end) : outcome.response();
    }

    @Override
    public boolean delete(Key key) {
        return holds.delete(key);
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return holds.find(key);
    }

    /** {@inheritDoc} Each holder is described by its owner name, or else by its process and host. */
    @Override
    public List<Holder> holders(String resource) {
        return new Inspection(transactions, leases).holders(resource);
    }

    /** {@inheritDoc} The order is that of the keys, byte by byte. */
    @Override
    public ResourcePage list(String prefix, Optional<String> after, int limit) {
        return new Listing(transactions, leases).page(prefix, after, limit);
    }

    /** {@inheritDoc} A reader that waits for its promotion comes first. */
    @Override
    public List<QueuedWaiter> waiters(String resource) {
        return new Inspection(transactions, leases).waiters(resource);
    }

    /** {@inheritDoc} The holder learns of it by its next renewal. */
    @Override
    public boolean forceRelease(String resource, long fencingToken) {
        return fencingToken > 0 && transactions.deleteWriter(resource, fencingToken);
    }

    /** Counts those who wait now. */
    int waits() {
        return waits.count();
    }

    /**
     * Fails all waits and closes the connections. Holds last until their leases end. Every later call throws a
     * {@link dev.latchkey.LockStorageException}. Idempotent.
     */
    @Override
    public void close() {
        if (isClosed.compareAndSet(false, true)) {
            waits.close();
            services.close();
        }
    }

    /** Options of an {@link EtcdStore}. Not thread-safe. */
    public static final class Builder {

        private Endpoints endpoints;
        private String root = DEFAULT_ROOT;
        private Duration timeout = DEFAULT_TIMEOUT;

        Builder(Endpoints endpoints) {
            if (endpoints.servers().isEmpty()) {
                throw new IllegalArgumentException("no server: write at least one host:port");
            }
            this.endpoints = endpoints;
        }

        /**
         * Connects by TLS, with the certificates that the JVM trusts.
         *
         * @return this
         */
        public Builder tls() {
            endpoints = new Endpoints(endpoints.servers(), true, endpoints.credentials());
            return this;
        }

        /**
         * Sets who the store is for the cluster.
         *
         * @param user a user with the permission {@code readwrite} on the prefix of the locks
         * @param password its password
         * @return this
         */
        public Builder credentials(String user, String password) {
            Credentials who =
                    new Credentials(Objects.requireNonNull(user, "user"), Objects.requireNonNull(password, "password"));
            endpoints = new Endpoints(endpoints.servers(), endpoints.isEncrypted(), Optional.of(who));
            return this;
        }

        /**
         * Sets what the keys of all locks begin with, before a slash. The default is {@code latchkey}. A root must not begin with
         * another one and a slash: with the roots {@code a} and {@code a/b} in one cluster, locks of the one exclude some of the
         * other.
         *
         * @param prefix any text that is not empty
         * @return this
         * @throws IllegalArgumentException if it is empty
         */
        public Builder root(String prefix) {
            if (prefix.isEmpty()) {
                throw new IllegalArgumentException("the root is empty: write for instance " + DEFAULT_ROOT);
            }
            this.root = prefix;
            return this;
        }

        /**
         * Sets how long a request may take, including its repetition by other servers. The default is five seconds.
         *
         * @param limit at least a millisecond
         * @return this
         * @throws IllegalArgumentException if it is shorter
         */
        public Builder timeout(Duration limit) {
            if (limit.compareTo(Duration.ofMillis(1)) < 0) {
                throw new IllegalArgumentException("timeout " + limit + ": must be at least 1 ms");
            }
            this.timeout = limit;
            return this;
        }

        /**
         * Creates the store. It connects when it is first used.
         *
         * @return a store, which the caller closes
         */
        public EtcdStore build() {
            return new EtcdStore(this);
        }
    }

    /**
     * Opens {@code etcd://host:2379,host:2379/root}, and {@code etcds://…} by TLS. Port and root are optional.
     * {@code user:password@} before the hosts authenticates. {@code timeout} after a question mark is the time limit of a
     * request, 5s by default. Connects when first needed.
     */
    public static final class Provider implements StoreProvider {

        /** Called by {@link java.util.ServiceLoader}. */
        public Provider() {}

        @Override
        public Set<String> schemes() {
            return Set.of(Dsn.SCHEME, Dsn.ENCRYPTED);
        }

        @Override
        public PersistingStore open(String dsn) {
            return Dsn.parse(dsn).store();
        }
    }
}
