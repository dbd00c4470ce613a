package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.AsyncStore;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.Durability;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.FencingStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.IndexedBatchStore;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StateCheck;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.spi.StoreProvider;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * Keeps holds on a Redis or Valkey server from 6.2 on, or a cluster of them, for all processes that reach it. One round trip
 * takes a lock, one gives it up.
 *
 * <p>The server keeps the queue of those who wait, first come, first served, readers in a row together; a waiting promoter
 * goes first. Who gives up hands over to the next in line, who is sent a message: waiting costs nothing but a slow look every
 * few seconds, and one connection for all that wait in this store, opened with the first wait. Where messages cannot be had
 * the store polls instead, and warns once.
 *
 * <p>A hold ends with its TTL by the server's clock. Its fencing token is the greater of the last one plus one and the
 * server's time in microseconds: it grows also over a server that has lost its data, but for one whose clock is behind as
 * well. What is remembered of a resource goes when it was not used for the retention.
 *
 * <p>What a single server cannot promise this does not either: when it fails and a replica that has not heard of a hold takes
 * over, there may be two holders. {@code docs/stores/redis.md} has the commands, rights and failures.
 *
 * <p>Thread-safe. Its connections are its own and end with {@link #close()}; a client or connections given to it stay the
 * caller's.
 */
public final class RedisStore
        implements ExpiringStore,
                SharedStore,
                BlockingStore,
                FencingStore,
                AsyncStore,
                InspectableStore,
                IndexedBatchStore {

    /** A script can add one to it: its numbers are doubles. */
    private static final long LARGEST_FENCE = (1L << 53) - 2;

    private final KeyNames names;
    private final Requests requests;
    private final ScriptRunner server;
    private final WaiterRegistry waits;
    private final LazyNotificationChannel inbox;
    private final Replicas replicas;
    private final AsyncRequests sending;
    private final Batches batches;

    /**
     * Uses a client, with what {@link #builder(RedisClient)} has for the rest.
     *
     * @param client which server; stays open when the store is closed
     */
    public RedisStore(RedisClient client) {
        this(builder(client));
    }

    private RedisStore(Builder options) {
        names = options.names;
        requests = new Requests(options.retention);
        Connections connections =
                options.memoryPolicy.watching(options.connections, options.server, options.commandTimeout);
        server = new ScriptRunner(connections, new Failures(options.server, names), options.commandTimeout);
        waits = new WaiterRegistry(server);
        inbox = new LazyNotificationChannel(
                () -> options.connections.inbox(names, waits.id(), waits, options.commandTimeout),
                options.server,
                names.channel(waits.id()));
        if (options.connections.areOurs()) {
            server.link().whenMoved(() -> inbox.renew(waits::missed));
        }
        replicas = new Replicas(server, options.replicas, options.replicaWait);
        sending = new AsyncRequests(server, names, requests);
        batches = new Batches(names, requests, server, replicas, options.connections.isOneServer());
    }

    /**
     * Begins a store over a client of one server, or of a master that sentinels know.
     *
     * @param client opens the connections; stays open when the store is closed. Commands that were under way when a
     *     connection broke are repeated as its options say; a release that was repeated may answer false
     * @return options
     */
    public static Builder builder(RedisClient client) {
        return new Builder(Connections.of(Objects.requireNonNull(client, "client")));
    }

    /**
     * Begins a store over a client of a cluster.
     *
     * @param client opens the connections; stays open when the store is closed. Its topology refresh should be on
     * @return options
     */
    public static Builder builder(RedisClusterClient client) {
        return new Builder(Connections.of(Objects.requireNonNull(client, "client")));
    }

    /**
     * Begins a store over connections that stay the caller's: the store closes neither.
     *
     * @param commands for commands; may be used for others, as long as those do not block it
     * @param messages for messages, to the same server and not to a replica of it, where what was granted and what was
     *     not look alike; may be used for other channels
     * @return options
     */
    public static Builder builder(
            StatefulRedisConnection<?, ?> commands, StatefulRedisPubSubConnection<String, String> messages) {
        return new Builder(Connections.of(
                Objects.requireNonNull(commands, "commands"), Objects.requireNonNull(messages, "messages")));
    }

    @Override
    public Response save(Request request) {
        return save(request, 0);
    }

    @Override
    public Response save(Request request, long proposal) {
        String resource = request.key().resource();
        SharedConnection.Session session = server.link().session(resource);
        long since = System.nanoTime();
        byte[] key = names.key(resource);
        Script script = Requests.script(Script.ACQUIRE, request);
        List<Long> reply = server.ask(resource, script, key, requests.acquire(request, proposal));
        Optional<Response> unused = ReplyParser.demotion(reply, request).map(this::save);
        return replicas.acknowledged(resource, session, ReplyParser.response(reply, request, since));
    }

    @Override
    public CompletionStage<Response> saveAsync(Request request, long proposal) {
        return sending.save(request, proposal, () -> save(request, proposal));
    }

    @Override
    public CompletionStage<Boolean> deleteAsync(Key key) {
        return sending.delete(key, () -> delete(key));
    }

    /** {@inheritDoc} Replicas can only be waited for. */
    @Override
    public <T> Optional<T> capability(Class<T> type) {
        return type == AsyncStore.class && replicas.areWanted()
                ? Optional.empty()
                : IndexedBatchStore.super.capability(type);
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        byte[] key = names.key(request.key().resource());
        QueueRequests questions = new QueueRequests(server, requests, key, request, waits.newAttempt());
        Response response = new QueuedWait(waits, inbox, questions, maxWait).await(withdrawn);
        return replicas.areWanted() && response instanceof Response.Granted ? written(request) : response;
    }

    /**
     * Replicas acknowledge what this connection wrote, and the grant may have been written by who handed it over. What was
     * promoted must not end sooner by it: its holder believes in the shared hold until it is told.
     */
    private Response written(Request request) {
        return request.key().held().isPresent() ? save(request) : refresh(request);
    }

    @Override
    public Response refresh(Request request) {
        String resource = request.key().resource();
        SharedConnection.Session session = server.link().session(resource);
        long since = System.nanoTime();
        Script script = Requests.script(Script.REFRESH, request);
        List<Long> reply = server.ask(resource, script, names.key(resource), requests.refresh(request));
        return replicas.acknowledged(resource, session, ReplyParser.refreshed(reply, request, since));
    }

    /** {@inheritDoc} Sends all before it waits for the first answer. */
    @Override
    public List<RefreshResult> refreshAll(List<Request> requests) {
        return refreshAll(requests, server.limit());
    }

    @Override
    public List<RefreshResult> refreshAll(List<Request> requests, Duration within) {
        return new Refreshes(server, names, this.requests, replicas).all(requests, within);
    }

    @Override
    public boolean refreshesAtOnce() {
        return true;
    }

    /** {@inheritDoc} A hold that others wait for is handed over to the next of them in the same step. */
    @Override
    public boolean delete(Key key) {
        return waits.wasGrantedInTurn(key.token())
                ? handOff(key)
                : release(key, requests.release(key)).get(0) == 1;
    }

    /** Others may wait for it. Those of them who wait in this store learn from the reply that it is theirs. */
    private boolean handOff(Key key) {
        try {
            server.link().connected(key.resource());
            long since = System.nanoTime();
            List<Long> reply = release(key, requests.handOff(key, waits.id()));
            waits.handedOver(reply, since);
            boolean wasOurs = reply.get(0) == 1;
            if (!wasOurs) {
                // The driver may have repeated it: then somebody may have it who was told by the reply that is lost.
                waits.missed();
            }
            return wasOurs;
        } catch (LockStorageException e) {
            // Somebody may have it who was not told.
            waits.missed();
            throw e;
        }
    }

    private List<Long> release(Key key, byte[][] args) {
        return server.ask(key.resource(), Script.RELEASE, names.key(key.resource()), args);
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        String resource = key.resource();
        server.link().connected(resource);
        long since = System.nanoTime();
        return ReplyParser.found(
                server.ask(resource, Script.FIND, names.key(resource), Requests.ascii(key.token())), since);
    }

    /** {@inheritDoc} Also false if it is more than ten years ahead of the server's clock. */
    @Override
    public boolean raiseFence(Key key, long fence) {
        String resource = key.resource();
        if (fence < 0 || fence > LARGEST_FENCE) {
            return false;
        }
        byte[] digits = Requests.ascii(String.format(Locale.ROOT, "%016d", fence));
        byte[] token = Requests.ascii(key.token());
        SharedConnection.Session session = server.link().session(resource);
        boolean isRaised = server.ask(resource, Script.RAISE_FENCE, names.key(resource), token, digits)
                        .get(0)
                == 1;
        if (isRaised) {
            replicas.acknowledge(resource, session);
        }
        return isRaised;
    }

    /** {@inheritDoc} A server that has lost its data goes on by its clock. */
    @Override
    public Durability survives() {
        return Durability.BY_THE_CLOCK;
    }

    @Override
    public List<Holder> holders(String resource) {
        return ReplyParser.holders(server.ask(resource, Script.HOLDERS, names.key(resource)));
    }

    /** {@inheritDoc} By one command, renewals of many holds by several; on a cluster, of resources in one slot. */
    @Override
    public BatchAttempt saveAll(List<Request> all) {
        return batches.saveAll(all, Optional.empty());
    }

    @Override
    public BatchAttempt saveAll(List<Request> all, StateCheck check) {
        return batches.saveAll(all, Optional.of(check));
    }

    /** {@inheritDoc} By one command for each few thousand, which hands over what others wait for. */
    @Override
    public int deleteAll(List<Key> keys) {
        return batches.deleteAll(keys);
    }

    @Override
    public Map<String, StateIndex> indexes(Collection<String> resources) {
        return batches.indexes(resources);
    }

    /** {@inheritDoc} By one command for each few thousand, to be kept without a TTL. */
    @Override
    public void raise(Map<String, StateIndex> indexes) {
        batches.raise(indexes);
    }

    /**
     * Fails all waits of this store and takes them out of the queues, then ends the connections it has opened. Holds stay
     * until their TTL is over. Every later call throws {@link LockStorageException}.
     */
    @Override
    public void close() {
        waits.close();
        inbox.close(server.limit());
        server.close();
    }

    /** Returns the server, without credentials. */
    @Override
    public String toString() {
        return "RedisStore[" + server.failures().server() + "]";
    }

    /** Options of a store. Not thread-safe. */
    public static final class Builder {

        private static final Duration SHORTEST_RETENTION = Duration.ofSeconds(1);
        private static final Duration LONGEST_RETENTION = Duration.ofDays(36_500);

        private final Connections connections;
        private String server = "the Redis server";
        private KeyNames names = new KeyNames("lock:");
        private Duration retention = Duration.ofMinutes(10);
        private Duration commandTimeout = Duration.ofSeconds(3);
        private MemoryPolicy memoryPolicy = MemoryPolicy.WARN;
        private int replicas;
        private Duration replicaWait = Duration.ZERO;

        Builder(Connections connections) {
            this.connections = connections;
        }

        Builder server(String address) {
            server = address;
            return this;
        }

        /**
         * Sets what all keys and channels begin with, {@code lock:} unless set. Stores with different prefixes have nothing
         * to do with each other.
         *
         * @param prefix any text without braces, also none
         * @return this
         * @throws IllegalArgumentException if it has a brace
         */
        public Builder keyPrefix(String prefix) {
            names = names.withPrefix(prefix);
            return this;
        }

        /**
         * Has a cluster keep all resources of this store in one slot, so that many of them can be taken at once: for the locks
         * of one tree. Stores with different tags have nothing to do with each other.
         *
         * @param tag 1 to 100 letters, digits, dots, colons, hyphens or underscores, beginning with a letter or digit
         * @return this
         * @throws IllegalArgumentException if it is not
         */
        public Builder hashTag(String tag) {
            names = names.withHashTag(tag);
            return this;
        }

        /**
         * Sets how long the last fencing token of a resource is remembered after its last lease, 10 minutes unless set. A
         * server clock that is set back by less than this does no harm.
         *
         * @param retention from 1 s on
         * @return this
         * @throws IllegalArgumentException if it is shorter, or longer than 36,500 days
         */
        public Builder retention(Duration retention) {
            if (retention.compareTo(SHORTEST_RETENTION) < 0 || retention.compareTo(LONGEST_RETENTION) > 0) {
                throw new IllegalArgumentException(
                        "retention " + retention + ": must be from " + SHORTEST_RETENTION + " to " + LONGEST_RETENTION);
            }
            this.retention = retention;
            return this;
        }

        /**
         * Sets how long an answer of the server is waited for before a call fails, 3 s unless set.
         *
         * @param timeout more than zero, at most a day
         * @return this
         * @throws IllegalArgumentException if it is neither
         */
        public Builder commandTimeout(Duration timeout) {
            if (timeout.isNegative() || timeout.isZero() || timeout.compareTo(Duration.ofDays(1)) > 0) {
                throw new IllegalArgumentException(
                        "command timeout " + timeout + ": must be more than zero and at most a day");
            }
            this.commandTimeout = timeout;
            return this;
        }

        /**
         * Refuses a server that may evict locks: one with a memory limit and a {@code maxmemory-policy} other than {@code
         * noeviction}, or one that does not let its policy be looked at. Every call then fails until the server is changed.
         * Unless set, such a server is used, and one warning says so. Looked at when the store connects; on a cluster, at
         * one of its servers.
         *
         * @return this
         */
        public Builder strict() {
            memoryPolicy = MemoryPolicy.REFUSE;
            return this;
        }

        /**
         * Has a lock count as taken or refreshed only when replicas have acknowledged it, by {@code WAIT} on the connection
         * that wrote. If they have not, the call fails as if the server had not answered, and a Lock gives up what it has
         * just taken.
         *
         * <p>It makes it less likely that a failover forgets a lock, and no more than that. It does not prove that the
         * replica that is promoted is one of those that acknowledged, nor that it has written anything to disk, nor that the
         * old master, cut off, does not go on granting locks. While it waits, other calls of this store wait behind it. Not
         * for clusters.
         *
         * @param count how many replicas, at least 1
         * @param maxWait how long to wait for them, from 1 ms on and shorter than the command timeout
         * @return this
         * @throws IllegalArgumentException if a value is out of range, or the store is one for a cluster
         */
        public Builder replicas(int count, Duration maxWait) {
            if (count < 1) {
                throw new IllegalArgumentException(count + " replicas: must be at least 1");
            }
            if (maxWait.toMillis() < 1) {
                throw new IllegalArgumentException("waiting " + maxWait + " for replicas: must be at least 1 ms");
            }
            if (!connections.isOneServer()) {
                throw new IllegalArgumentException("replicas cannot be waited for on a cluster");
            }
            this.replicas = count;
            this.replicaWait = maxWait;
            return this;
        }

        /**
         * Makes the store. It connects when it is first used.
         *
         * @return a store of its own, to be closed by the caller
         * @throws IllegalArgumentException if replicas are waited for longer than the command timeout
         */
        public RedisStore build() {
            if (replicaWait.compareTo(commandTimeout) >= 0) {
                throw new IllegalArgumentException("waiting " + replicaWait
                        + " for replicas: must be shorter than the command timeout, " + commandTimeout);
            }
            return new RedisStore(this);
        }
    }

    /**
     * Opens {@code redis://[user:password@]host[:port][/database]}, {@code rediss://} for TLS,
     * {@code redis-sentinel://host[:port],host[:port]/database#master}, {@code redis-cluster://host[:port],host[:port]} and
     * {@code valkey://}, the same as {@code redis://}; {@code ?prefix=} sets the key prefix, {@code ?hash-tag=} the hash tag,
     * {@code ?sentinel-user=} and {@code ?sentinel-password=} what sentinels want that is not what their master wants,
     * {@code ?timeout=5s} the command timeout, {@code ?strict=true} is {@link Builder#strict()}. Any other option is refused,
     * but for {@code verifyPeer}, {@code clientName} and {@code database}, which are the driver's.
     */
    public static final class Provider implements StoreProvider {

        /** For {@link java.util.ServiceLoader}. */
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
