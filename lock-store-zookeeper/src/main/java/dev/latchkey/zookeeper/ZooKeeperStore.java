package dev.latchkey.zookeeper;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ProcessBound;
import dev.latchkey.spi.QueuedWaiter;
import dev.latchkey.spi.RecallableStore;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/**
 * A lock store that uses ephemeral nodes of a ZooKeeper ensemble, version 3.5.3 or newer. A hold lasts until it is
 * released, the store is closed, or its session ends. Holds have no TTL.
 *
 * <p>Requests for a resource join a queue of sequential nodes and are served in this order across all processes.
 * Acquiring a free resource takes one round trip with a write and a read, or only a write if this process was the last
 * holder. Releasing it takes one round trip with a write. Waiting costs nothing. Only a holder that is promoted from
 * shared to exclusive overtakes writers, which wait for it in any case.
 *
 * <p>A hold survives a lost connection: the client finds another server, and the session continues. If no quorum of the
 * servers has answered for half to three quarters of the session timeout, the store gives up its holds and reports them
 * as lost, before the servers can grant them to others. A fencing token is the number of a transaction of the ensemble,
 * the {@code czxid} of the holder's node, times 4,096, and for a sticky hold one of the 4,095 after that. It grows as long as
 * the ensemble keeps its data.
 *
 * <p>Thread-safe. Do not call the store on the event thread of the ZooKeeper client, that is in a watcher or a callback,
 * because the answer could not be received.
 */
public final class ZooKeeperStore
        implements SharedStore, RecallableStore, ListingStore, WaiterListingStore, ProcessBound {

    /** The default parent of all queues. */
    static final String DEFAULT_ROOT = "/latchkey";

    private final Paths paths;
    private final Sessions sessions;
    private final Holds holds = new Holds();
    private final Heartbeat heartbeat;
    private final Acquirer acquirer;

    /**
     * Creates a store that uses a client of the caller, with nodes below {@code /latchkey} that everybody may use.
     *
     * @param client belongs to the caller, who closes it after the store. When its session ends, the store can no longer
     *     be used
     */
    public ZooKeeperStore(ZooKeeper client) {
        this(builder(client));
    }

    private ZooKeeperStore(Builder builder) {
        this.paths = new Paths(builder.root);
        this.sessions = new Sessions(builder.clients, new NodeSettings(paths, builder.acl));
        this.heartbeat = new Heartbeat(sessions);
        this.acquirer = new Acquirer(sessions, paths, holds, heartbeat);
    }

    /**
     * Returns a builder of a store that uses a client of the caller.
     *
     * @param client belongs to the caller, who closes it after the store. When its session ends, the store can no longer
     *     be used
     * @return a builder
     */
    public static Builder builder(ZooKeeper client) {
        return new Builder(Clients.Lent.of(Objects.requireNonNull(client, "client")));
    }

    /**
     * Returns a builder of a store that uses clients which other code creates and replaces, such as a
     * {@code CuratorFramework}: {@code ZooKeeperStore.builder(() -> curator.getZookeeperClient().getZooKeeper())}. When
     * the session of a client has ended, the next call that needs a client asks for another one.
     *
     * @param clients called on first use, and when the session of the last client has ended; the store closes none of the
     *     clients
     * @return a builder
     */
    public static Builder builder(ClientSource clients) {
        return new Builder(new Clients.Lent(Objects.requireNonNull(clients, "clients")));
    }

    /** Returns ZooKeeper clients: another one when the session of the last one has ended. Must be thread-safe. */
    @FunctionalInterface
    public interface ClientSource {

        /**
         * Returns the current client, without waiting until it is connected.
         *
         * @return a client whose session has not ended; if there is none now, the last one, and the store asks again for
         *     up to a second
         * @throws Exception if there is none. The call that needs it fails with a
         *     {@link dev.latchkey.LockStorageException}; nothing was sent
         */
        ZooKeeper client() throws Exception;
    }

    @Override
    public Response save(Request request) {
        checkOpen(request.key());
        Hold own = holds.of(request.key());
        if (own == null) {
            return claimsNothing(request) ? acquirer.take(request) : lost(LossReason.RELEASED_ELSEWHERE);
        }
        return mayPromote(request, own) ? new Promotion(holds, own).attempt() : renew(request, own);
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        long endNanos = System.nanoTime() + maxWait.toNanos();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        checkOpen(request.key());
        Hold own = holds.of(request.key());
        if (own == null && !claimsNothing(request)) {
            return lost(LossReason.RELEASED_ELSEWHERE);
        }
        if (own != null && !mayPromote(request, own)) {
            return renew(request, own);
        }
        CompletableFuture<Void> stop = new CompletableFuture<>();
        var unused = withdrawn.whenComplete((ignored, failure) -> stop.complete(null));
        return own == null ? acquirer.await(request, endNanos, stop) : new Promotion(holds, own).await(endNanos, stop);
    }

    /** {@inheritDoc} Here it is 4,095 at most. */
    @Override
    public long reservedTokens(Request request) {
        return Math.min(request.reservedTokens(), FencingTokens.RESERVED);
    }

    private static boolean claimsNothing(Request request) {
        return request.key().held().isEmpty();
    }

    private static boolean mayPromote(Request request, Hold own) {
        return request.mode() == LockMode.EXCLUSIVE
                && own.mode() == LockMode.SHARED
                && own.place().session().isLive()
                && request.key().held().map(own::isAsClaimed).orElse(true);
    }

    private Response renew(Request request, Hold own) {
        if (!own.place().session().isLive()) {
            return lost(LossReason.SESSION_LOST);
        }
        boolean isRepeatedDemotion = own.mode() == LockMode.SHARED && request.isDemotion();
        if (!isRepeatedDemotion && !request.key().held().map(own::isAsClaimed).orElse(true)) {
            return lost(LossReason.RELEASED_ELSEWHERE);
        }
        if (own.mode() == LockMode.EXCLUSIVE && request.isDemotion()) {
            return holds.demote(own);
        }
        return holds.find(request.key())
                .<Response>map(granted -> granted)
                .orElseGet(() -> lost(LossReason.RELEASED_ELSEWHERE));
    }

    private static Response lost(LossReason reason) {
        return new Response.Lost(reason);
    }

    /**
     * {@inheritDoc}
     *
     * @return true if the key was the holder, confirmed by the servers
     * @throws dev.latchkey.LockStorageException if no server answered; the hold has ended nevertheless, and its node is
     *     removed as soon as a server answers, at the latest with the session
     */
    @Override
    public boolean delete(Key key) {
        return holds.release(key);
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return holds.find(key);
    }

    /**
     * {@inheritDoc} Each holder is described by its session, for example {@code session 0x100a3b2c4d50001}. The servers
     * know the address of the session.
     */
    @Override
    public List<Holder> holders(String resource) {
        return new Inspection(acquirer.session(resource)).holders(resource, paths.of(resource));
    }

    /** {@inheritDoc} Of the waiters of one store, the first 16 are in the queue of the servers. */
    @Override
    public List<QueuedWaiter> waiters(String resource) {
        return new Inspection(acquirer.session(resource)).waiters(resource, paths.of(resource));
    }

    /** {@inheritDoc} Here it is the order of {@link String#compareTo}. Each page reads the names of all queues below the root. */
    @Override
    public ResourcePage list(String prefix, Optional<String> after, int limit) {
        return new Inspection(acquirer.session(prefix)).list(paths, prefix, after, limit);
    }

    @Override
    public String reason() {
        return "an ephemeral node belongs to the session that made it";
    }

    /**
     * Releases all holds of this store and fails its waits. Every later call except {@code delete} and {@code find}
     * throws a {@link dev.latchkey.LockStorageException}. Closes the client if the store has created it.
     */
    @Override
    public void close() {
        sessions.close();
        acquirer.close();
        heartbeat.close();
    }

    Sessions sessions() {
        return sessions;
    }

    int holds() {
        return holds.size();
    }

    private void checkOpen(Key key) {
        if (sessions.isClosed()) {
            throw Failures.closed(key.resource());
        }
    }

    /** Options of a {@link ZooKeeperStore}. Not thread-safe. */
    public static final class Builder {

        private final Clients clients;
        private String root = DEFAULT_ROOT;
        private List<ACL> acl = ZooDefs.Ids.OPEN_ACL_UNSAFE;

        Builder(Clients clients) {
            this.clients = clients;
        }

        /**
         * Sets the parent of all nodes. The default is {@code /latchkey}. Missing nodes of the path are created; the
         * parent is deleted again when it is empty.
         *
         * @param path an absolute path, below the chroot of the client
         * @return this
         * @throws IllegalArgumentException if {@code path} is not a valid path
         */
        public Builder root(String path) {
            new Paths(path);
            this.root = path;
            return this;
        }

        /**
         * Sets who may use the nodes. All clients that share a lock need the permissions to read, create, write and
         * delete.
         *
         * @param entries the access control list of every node; by default everybody may do everything, as in
         *     {@link org.apache.zookeeper.ZooDefs.Ids#OPEN_ACL_UNSAFE}
         * @return this
         */
        public Builder acl(List<ACL> entries) {
            this.acl = List.copyOf(entries);
            return this;
        }

        /**
         * Creates the store. It connects when it is first used.
         *
         * @return a store, which the caller closes
         */
        public ZooKeeperStore build() {
            return new ZooKeeperStore(this);
        }
    }

    /**
     * Opens {@code zookeeper://host:2181,host:2181/chroot}. The port is optional. {@code user:password@} before the hosts
     * authenticates by digest, and then only that user may use the nodes. Options after a question mark:
     * {@code sessionTimeout}, 15s by default, within the limits of the servers; and {@code root}, the
     * parent of all nodes below the chroot, {@code /latchkey} by default. Connects when first needed.
     */
    public static final class Provider implements StoreProvider {

        /** Called by {@link java.util.ServiceLoader}. */
        public Provider() {}

        @Override
        public Set<String> schemes() {
            return Set.of(Dsn.SCHEME);
        }

        @Override
        public PersistingStore open(String dsn) {
            return Dsn.parse(dsn).store();
        }
    }
}
