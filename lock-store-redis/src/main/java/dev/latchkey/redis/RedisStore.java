package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.AsyncBlockingStore;
import dev.latchkey.spi.AsyncStore;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.Durability;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.FencingStore;
import dev.latchkey.spi.ForceReleaseStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.IndexedBatchStore;
import dev.latchkey.spi.KeptHolds;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.PermitStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.QueuedWaiter;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.ResourcePage;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SemaphoreStore;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StateCheck;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.spi.StoreProvider;
import dev.latchkey.spi.WaiterListingStore;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * A lock store on a Redis or Valkey server, version 6.2 or later, or on a cluster. An acquire takes one round trip, and
 * so does a release.
 *
 * <p>The server keeps the queue of waiters, in FIFO order, consecutive readers together; a waiting promoter comes first.
 * Releasing hands the lock to the next waiter and notifies it. While it waits, a client only polls every few seconds as a
 * safety net. One more connection receives all notifications of this store: it is opened with the first wait, once a lock
 * has been held for 0.4 s, to hear of forced releases, or before the first request for a sticky lock. If notifications are
 * not available, the store polls instead, and warns once.
 *
 * <p>A sticky hold is recalled by a message to the store that acquired it, for which that subscribes before its first request for
 * one.
 *
 * <p>A hold ends with its TTL by the server's clock. A fencing token is the last one plus one, or the server's time in
 * microseconds if that is greater. Tokens therefore grow even if the server has lost its data, unless its clock is behind
 * as well. The server forgets a resource that was not used for the retention time.
 *
 * <p>The store cannot promise more than a single server does: if the server fails, and a replica takes over that has not
 * received a hold, there can be two holders. {@code docs/stores/redis.md} lists the commands, permissions and failures.
 *
 * <p>The store owns its connections and closes them with {@link #close()}. A client or connections passed to it belong to
 * the caller.
 *
 * <p>Thread-safe.
 */
public final class RedisStore
        implements RecallableStore,
                ExpiringStore,
                SharedStore,
                AsyncBlockingStore,
                FencingStore,
                AsyncStore,
                ListingStore,
                WaiterListingStore,
                ForceReleaseStore,
                SemaphoreStore,
                IndexedBatchStore {

    private final Requests requests;
    private final ScriptRunner server;
    private final WaiterRegistry waiters;
    private final QueuedAcquires acquires;
    private final Replicas replicas;
    private final Releases releases;
    private final FencingTokens fencingTokens;
    private final AsyncRequests async;
    private final Refreshes refreshes;
    private final Batches batches;
    private final HoldWatch watch;
    private final OwnerNames owners;
    private final Inspection inspection;
    private final RedisPermits permits;

    /**
     * Creates a store over a client, with the default options.
     *
     * @param client the client of the server; it stays open when the store is closed
     */
    public RedisStore(RedisClient client) {
        this(builder(client).options);
    }

    private RedisStore(StoreOptions options) {
        KeyNames names = options.names();
        Connections connections = options.checkedConnections();
        server = new ScriptRunner(connections, new Failures(options.server(), names), options.commandTimeout());
        String inboxName = WaiterRegistry.newId();
        requests = new Requests(names, options.retention(), inboxName);
        owners = new OwnerNames(server, requests, inboxName);
        Keyspace keyspace = new Keyspace(server, names);
        inspection = new Inspection(server, requests, keyspace);
        BatchRequests batched = new BatchRequests(names, options.retention(), inboxName, connections.isOneServer());
        ForcedReleases forced = new ForcedReleases(names);
        KeptHolds kept = new KeptHolds();
        waiters = new WaiterRegistry(server, inboxName, names, forced, kept);
        var inbox =
                new LazyNotificationChannel(connections, names, waiters, options.server(), options.commandTimeout());
        LocalQueues local = new LocalQueues(LocalQueues.AT_HOME);
        acquires = new QueuedAcquires(server, inbox, waiters, local, owners);
        if (connections.areReplaceable()) {
            server.link().whenMoved(inbox::renew);
        }
        replicas = options.replicas(server);
        watch = new HoldWatch(new ForcedReleaseWatch(server, requests, inbox, forced), kept, inbox, server.limit());
        releases = new Releases(server, requests, waiters, local, forced, kept);
        async = new AsyncRequests(server, requests, releases);
        fencingTokens = new FencingTokens(server, requests, replicas);
        refreshes = new Refreshes(server, requests::refresh, replicas);
        batches = new Batches(batched, server, replicas, owners, watch);
        PermitRequests permitRequests = new PermitRequests(names, inboxName);
        permits = new RedisPermits(server, permitRequests, waiters, acquires, replicas, owners, keyspace);
    }

    /**
     * Returns a builder of a store over a client of one server, or of a master that sentinels monitor.
     *
     * @param client opens the connections; it stays open when the store is closed. If a connection breaks, the client's
     *     options decide whether commands in progress are repeated; a release that was repeated fails as in doubt
     * @return a builder
     */
    public static Builder builder(RedisClient client) {
        return new Builder(Connections.of(Objects.requireNonNull(client, "client")));
    }

    /**
     * Returns a builder of a store over a client of a cluster.
     *
     * @param client opens the connections; it stays open when the store is closed. Its topology refresh should be enabled
     * @return a builder
     */
    public static Builder builder(RedisClusterClient client) {
        return new Builder(Connections.of(Objects.requireNonNull(client, "client")));
    }

    /**
     * Returns a builder of a store over connections that the caller owns: the store closes neither.
     *
     * @param commands the connection for commands; it may be used for other commands that do not block it
     * @param messages the connection for notifications, to the same server and not to a replica of it, where a grant
     *     cannot be told from a refusal; it may be used for other channels
     * @return a builder
     */
    public static Builder builder(
            StatefulRedisConnection<?, ?> commands, StatefulRedisPubSubConnection<String, String> messages) {
        return new Builder(Connections.of(
                Objects.requireNonNull(commands, "commands"), Objects.requireNonNull(messages, "messages")));
    }

    @Override
    public Response save(Request request) {
        return saved(request, server.send(requests.acquire(watch.prepared(request), 0)));
    }

    @Override
    public Response save(Request request, long proposal) {
        return saved(request, server.send(requests.acquire(request, proposal)));
    }

    private Response saved(Request request, ScriptRunner.Sent sent) {
        owners.use(request);
        Response response = ReplyParser.response(server.answer(sent), request, sent.sinceNanos());
        return watch.watched(request, replicas.acknowledged(sent, response));
    }

    @Override
    public CompletionStage<Response> saveAsync(Request request, long proposal) {
        CompletionStage<Response> answer = async.save(request, proposal, () -> save(request, proposal));
        owners.use(request);
        return answer.thenApply(response -> watch.watched(request, response));
    }

    @Override
    public CompletionStage<Boolean> deleteAsync(Key key) {
        return async.delete(key, () -> delete(key));
    }

    /**
     * {@inheritDoc} With {@link Builder#replicas}, the store is no {@link AsyncStore} or {@link AsyncBlockingStore}, because the acknowledgement of
     * replicas has to be waited for.
     */
    @Override
    public <T> Optional<T> capability(Class<T> type) {
        boolean isAsync = type == AsyncStore.class || type == AsyncBlockingStore.class;
        return isAsync && replicas.areWanted() ? Optional.empty() : IndexedBatchStore.super.capability(type);
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Response response;
        LockAttempt attempt = new LockAttempt(requests, watch.prepared(request), waiters.newAttempt());
        try (QueuedAcquires.Begun begun = acquires.begin(attempt, maxWait, withdrawn)) {
            response = begun.acquire().await();
        }
        return replicas.areWanted() && response instanceof Response.Granted
                ? written(request)
                : watch.watched(request, response);
    }

    @Override
    public CompletionStage<Response> waitAndSaveAsync(
            Request request, Duration maxWait, CompletionStage<?> withdrawn, Executor steps) {
        LockAttempt attempt = new LockAttempt(requests, request, waiters.newAttempt());
        return acquires.start(attempt, maxWait, withdrawn, steps)
                .thenApply(response -> watch.watched(request, response));
    }

    /**
     * Writes again what was granted, because replicas acknowledge what this connection wrote, and another client may have
     * written the grant. What was promoted must not end sooner by this: its holder believes in the shared hold until it knows.
     */
    private Response written(Request request) {
        return request.key().held().isPresent() ? save(request) : refresh(request);
    }

    @Override
    public Response refresh(Request request) {
        ScriptRunner.Sent sent = server.send(requests.refresh(request));
        owners.use(request);
        Response response = ReplyParser.refreshed(server.answer(sent), request, sent.sinceNanos());
        return watch.watched(request, replicas.acknowledged(sent, response));
    }

    /** {@inheritDoc} All requests are sent before the store waits for the first answer. */
    @Override
    public List<RefreshResult> refreshAll(List<Request> all) {
        return refreshAll(all, server.limit());
    }

    @Override
    public List<RefreshResult> refreshAll(List<Request> all, Duration within) {
        List<RefreshResult> results = refreshes.all(all, within);
        all.forEach(owners::use);
        return watch.watched(all, results);
    }

    @Override
    public boolean refreshesAtOnce() {
        return true;
    }

    /** {@inheritDoc} If others wait for the lock, it is handed to the next waiter in the same step. */
    @Override
    public boolean delete(Key key) {
        return releases.release(key);
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        ScriptRunner.Sent sent = server.send(requests.find(key));
        return watch.found(key, server.answer(sent), sent.sinceNanos());
    }

    /** {@inheritDoc} Also returns false if the number is more than ten years ahead of the server's clock. */
    @Override
    public boolean raiseFence(Key key, long fence) {
        return fencingTokens.raise(key, fence);
    }

    /** {@inheritDoc} After a loss of data, the server continues by its clock. */
    @Override
    public Durability survives() {
        return Durability.BY_THE_CLOCK;
    }

    @Override
    public List<Holder> holders(String resource) {
        return inspection.holders(resource);
    }

    /** {@inheritDoc} A waiter behind others of its own store may be listed as late as 20 ms after it came, at its place. */
    @Override
    public List<QueuedWaiter> waiters(String resource) {
        return inspection.waiters(resource);
    }

    /**
     * {@inheritDoc} Here it is the order of {@link String#compareTo}. Each page reads the names of all keys with the prefix, by
     * SCAN; on a cluster, from all masters.
     */
    @Override
    public ResourcePage list(String prefix, Optional<String> after, int limit) {
        return inspection.list(prefix, after, limit);
    }

    /**
     * {@inheritDoc} Here the store that acquired the hold is sent a message. Whoever has not got it, as with a key that another
     * process has acquired, learns of it by its next renewal.
     */
    @Override
    public boolean forceRelease(String resource, long fencingToken) {
        return fencingTokens.forceRelease(resource, fencingToken);
    }

    /**
     * {@inheritDoc} This takes one command; renewals of many holds take several. On a cluster, the resources must be in
     * one slot.
     */
    @Override
    public BatchAttempt saveAll(List<Request> all) {
        return batches.saveAll(all, Optional.empty());
    }

    @Override
    public BatchAttempt saveAll(List<Request> all, StateCheck check) {
        return batches.saveAll(all, Optional.of(check));
    }

    /** {@inheritDoc} This takes one command for each few thousand resources, which also hands them to waiters. */
    @Override
    public int deleteAll(List<Key> keys) {
        return batches.deleteAll(keys);
    }

    @Override
    public Map<String, StateIndex> indexes(Collection<String> resources) {
        return batches.indexes(resources);
    }

    /** {@inheritDoc} This takes one command for each few thousand resources. The indexes have no TTL. */
    @Override
    public void raise(Map<String, StateIndex> indexes) {
        batches.raise(indexes);
    }

    /**
     * {@inheritDoc} An acquire of permits takes one round trip, and so does a release. The server keeps the queue of those who
     * wait, in FIFO order, and notifies them as it does for a lock.
     */
    @Override
    public PermitStore permits() {
        return permits;
    }

    /**
     * Fails all waits of this store and removes them from the queues, then closes the connections it has opened. Holds
     * stay until their TTL is over. Every later call throws a {@link LockStorageException}.
     */
    @Override
    public void close() {
        acquires.close();
        server.close();
    }

    /** Returns the server, without credentials. */
    @Override
    public String toString() {
        return "RedisStore[" + server.failures().server() + "]";
    }

    /** Options of a {@link RedisStore}. Not thread-safe. */
    public static final class Builder {

        private final StoreOptions options;

        Builder(Connections connections) {
            this.options = new StoreOptions(connections);
        }

        Builder server(String address) {
            options.setServer(address);
            return this;
        }

        /**
         * Sets the prefix of all keys and channels. The default is {@code lock:}. Stores with different prefixes are
         * independent of each other.
         *
         * @param prefix any text without braces, including the empty one
         * @return this
         * @throws IllegalArgumentException if {@code prefix} contains a brace
         */
        public Builder keyPrefix(String prefix) {
            options.setNames(options.names().withPrefix(prefix));
            return this;
        }

        /**
         * Makes a cluster keep all resources of this store in one slot, so that several of them can be acquired at once,
         * as for the locks of one tree. Stores with different tags are independent of each other.
         *
         * @param tag 1 to 100 letters, digits, dots, colons, hyphens or underscores, starting with a letter or digit
         * @return this
         * @throws IllegalArgumentException if {@code tag} is anything else
         */
        public Builder hashTag(String tag) {
            options.setNames(options.names().withHashTag(tag));
            return this;
        }

        /**
         * Sets how long the last fencing token of a resource is kept after its last lease. The default is 10 minutes. A
         * server clock that is set back by less than this does no harm.
         *
         * @param retention from 1 s to 36,500 days
         * @return this
         * @throws IllegalArgumentException if {@code retention} is out of range
         */
        public Builder retention(Duration retention) {
            options.setRetention(retention);
            return this;
        }

        /**
         * Sets the time to wait for an answer of the server before a call fails. The default is 3 s.
         *
         * @param timeout more than zero, at most a day
         * @return this
         * @throws IllegalArgumentException if {@code timeout} is out of range
         */
        public Builder commandTimeout(Duration timeout) {
            options.setCommandTimeout(timeout);
            return this;
        }

        /**
         * Refuses a server that may evict locks: one with a memory limit and a {@code maxmemory-policy} other than
         * {@code noeviction}, or one that does not allow its policy to be read. Every call then fails until the server is
         * changed. By default, such a server is used, with one warning. The policy is read when the store connects; on a
         * cluster, from one of its servers.
         *
         * @return this
         */
        public Builder strict() {
            options.setMemoryPolicy(MemoryPolicy.REFUSE);
            return this;
        }

        /**
         * Makes a lock count as acquired or refreshed only after replicas have acknowledged it, by {@code WAIT} on the
         * connection that wrote. Otherwise the call fails as if the server had not answered, and a Lock gives up what it
         * has just acquired.
         *
         * <p>This makes it less likely that a failover loses a lock, but does no more. It does not prove that the
         * promoted replica is one of those that acknowledged, that this replica has written anything to disk, or that the
         * old master, when disconnected, stops granting locks. Other calls of this store wait until the replicas have
         * acknowledged. Not for clusters.
         *
         * @param count the number of replicas, at least 1
         * @param maxWait how long to wait for them: at least 1 ms, and less than the command timeout
         * @return this
         * @throws IllegalArgumentException if a value is out of range, or the store is for a cluster
         */
        public Builder replicas(int count, Duration maxWait) {
            options.setReplicas(count, maxWait);
            return this;
        }

        /**
         * Creates the store. It connects when it is first used.
         *
         * @return a store, which the caller closes
         * @throws IllegalArgumentException if the time to wait for replicas is not less than the command timeout
         */
        public RedisStore build() {
            options.check();
            return new RedisStore(options);
        }
    }

    /**
     * Opens {@code redis://[user:password@]host[:port][/database]}, {@code rediss://} for TLS,
     * {@code redis-sentinel://host[:port],host[:port]/database#master}, {@code redis-cluster://host[:port],host[:port]},
     * and {@code valkey://}, which is the same as {@code redis://}.
     *
     * <p>Options: {@code ?prefix=} sets the key prefix, {@code ?hash-tag=} the hash tag, {@code ?timeout=5s} the command
     * timeout, and {@code ?strict=true} is {@link Builder#strict()}. {@code ?sentinel-user=} and
     * {@code ?sentinel-password=} are the credentials of the sentinels if they differ from those of the master. Any other
     * option is refused, except {@code verifyPeer}, {@code clientName} and {@code database}, which belong to the driver.
     */
    public static final class Provider implements StoreProvider {

        /** Called by {@link java.util.ServiceLoader}. */
        public Provider() {}

        @Override
        public Set<String> schemes() {
            return Dsn.SCHEMES;
        }

        @Override
        public PersistingStore open(String dsn) {
            return Dsn.open(dsn);
        }
    }
}
