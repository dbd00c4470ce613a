package dev.latchkey.zookeeper;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ProcessBound;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StoreProvider;
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
 * Keeps holds as ephemeral nodes of a ZooKeeper ensemble, 3.5.3 or newer. A hold lasts until it is released, the store is
 * closed, or its session ends; it has no TTL.
 *
 * <p>Who wants a resource joins a line of sequential nodes, and is served in that order wherever it runs. Taking a free
 * resource is one round trip of a write and a read, of a write alone if it was this process that had it last; releasing it is
 * one of a write; who waits costs nothing. Only a holder
 * that shares and promotes overtakes the writers that wait for it anyway.
 *
 * <p>A lost connection is not a lost hold: the client finds another server, and the session goes on. When no quorum of the
 * servers has answered for half to three quarters of the session timeout, the holds are given up and reported lost, before
 * the servers can give them to others. A fencing token is the number of a transaction of the ensemble, the {@code czxid} of the
 * holder's node, and grows as long as the ensemble keeps its data.
 *
 * <p>Thread-safe. Not to be called by the event thread of the ZooKeeper client, that is in a watcher or a callback, which
 * could not hear the answer.
 */
public final class ZooKeeperStore implements SharedStore, BlockingStore, InspectableStore, ProcessBound {

    /** Where lines are unless said otherwise. */
    static final String DEFAULT_ROOT = "/latchkey";

    private final Paths paths;
    private final Sessions sessions;
    private final Holds holds = new Holds();
    private final Heartbeat pulse;
    private final Acquirer taking;

    /**
     * Uses a client of the caller, with nodes below {@code /latchkey} that everybody may use.
     *
     * @param client stays the caller's, who closes it after the store; when its session ends, so does the use of the store
     */
    public ZooKeeperStore(ZooKeeper client) {
        this(builder(client));
    }

    private ZooKeeperStore(Builder builder) {
        this.paths = new Paths(builder.root);
        this.sessions = new Sessions(builder.clients, new NodeSettings(paths, builder.acl));
        this.pulse = new Heartbeat(sessions);
        this.taking = new Acquirer(sessions, paths, holds, pulse);
    }

    /**
     * Begins with a client of the caller.
     *
     * @param client stays the caller's, who closes it after the store; when its session ends, so does the use of the store
     * @return a builder
     */
    public static Builder builder(ZooKeeper client) {
        return new Builder(Clients.Lent.of(Objects.requireNonNull(client, "client")));
    }

    /**
     * Begins with clients that somebody else makes and replaces, such as a {@code CuratorFramework}:
     * {@code ZooKeeperStore.builder(() -> curator.getZookeeperClient().getZooKeeper())}. Another one is asked for when the
     * session of the last has ended, by the next call that needs one.
     *
     * @param clients asked on first use, and whenever the client it gave before has ended; none of them is closed here
     * @return a builder
     */
    public static Builder builder(ClientSource clients) {
        return new Builder(new Clients.Lent(Objects.requireNonNull(clients, "clients")));
    }

    /** Who has a client of ZooKeeper to lend, and another one when that has ended. To be thread-safe. */
    @FunctionalInterface
    public interface ClientSource {

        /**
         * Returns the client of today, without waiting until it is connected.
         *
         * @return one whose session has not ended; if there is none now, the last one, and it is asked again for a second
         * @throws Exception if there is none, which fails the call that needs it with
         *     {@link dev.latchkey.LockStorageException}, as nothing was sent
         */
        ZooKeeper client() throws Exception;
    }

    @Override
    public Response save(Request request) {
        checkOpen(request.key());
        Hold own = holds.of(request.key());
        if (own == null) {
            return claimsNothing(request) ? taking.take(request) : lost(LossReason.RELEASED_ELSEWHERE);
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
        return own == null ? taking.await(request, endNanos, stop) : new Promotion(holds, own).await(endNanos, stop);
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
        if (!request.key().held().map(own::isAsClaimed).orElse(true)) {
            return lost(LossReason.RELEASED_ELSEWHERE);
        }
        if (own.mode() == LockMode.EXCLUSIVE && request.mode() == LockMode.SHARED) {
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
     * @return true if the key was the holder and the servers agree
     * @throws dev.latchkey.LockStorageException if no server answered; the hold has ended all the same, and its node is
     *     removed as soon as one does, at the latest with the session
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
     * {@inheritDoc} Each is described by its session, as in {@code session 0x100a3b2c4d50001}, of which the servers know
     * the address.
     */
    @Override
    public List<Holder> holders(String resource) {
        return Inspection.holders(resource, paths.of(resource), taking.session(resource));
    }

    @Override
    public String reason() {
        return "an ephemeral node belongs to the session that made it";
    }

    /**
     * Releases all holds of this store and fails its waits; every later call but {@code delete} and {@code find} throws
     * {@link dev.latchkey.LockStorageException}. Closes the client if the store has made it.
     */
    @Override
    public void close() {
        sessions.close();
        taking.close();
        pulse.close();
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

    /** How a store is to be. */
    public static final class Builder {

        private final Clients clients;
        private String root = DEFAULT_ROOT;
        private List<ACL> acl = ZooDefs.Ids.OPEN_ACL_UNSAFE;

        Builder(Clients clients) {
            this.clients = clients;
        }

        /**
         * Puts all nodes below another one than {@code /latchkey}. It is made if it is missing, as is what is above it, and
         * goes again when it is empty.
         *
         * @param path absolute, below the chroot of the client
         * @return this
         * @throws IllegalArgumentException if it is not a path
         */
        public Builder root(String path) {
            new Paths(path);
            this.root = path;
            return this;
        }

        /**
         * Says who may use the nodes; all who share a lock need to read, create, write and delete.
         *
         * @param entries for every node; by default everybody may do everything, as
         *     {@link org.apache.zookeeper.ZooDefs.Ids#OPEN_ACL_UNSAFE} says
         * @return this
         */
        public Builder acl(List<ACL> entries) {
            this.acl = List.copyOf(entries);
            return this;
        }

        /**
         * Makes the store.
         *
         * @return ready; the servers are first asked when it is used
         */
        public ZooKeeperStore build() {
            return new ZooKeeperStore(this);
        }
    }

    /**
     * Opens {@code zookeeper://host:2181,host:2181/chroot}. The port may be left out. {@code user:password@} before the
     * hosts authenticates by digest, and then only that user may use the nodes. Options after a question mark:
     * {@code sessionTimeout} in milliseconds, 15000 by default, within what the servers allow, and {@code root}, the node
     * below the chroot where all others are, {@code /latchkey} by default. Connects when first needed.
     */
    public static final class Provider implements StoreProvider {

        /** For {@link java.util.ServiceLoader}. */
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
