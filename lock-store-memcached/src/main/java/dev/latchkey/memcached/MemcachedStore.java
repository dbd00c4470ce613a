package dev.latchkey.memcached;

import dev.latchkey.Key;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StoreProvider;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import net.spy.memcached.ConnectionFactoryBuilder.Protocol;
import net.spy.memcached.MemcachedClient;

/**
 * Keeps holds as items of one Memcached server from 1.4.14 on, for what may be done twice: a cache forgets. It drops locks
 * when it is restarted, flushed or short of memory, and can tell nobody; a holder finds out when it refreshes or asks.
 * There are no fencing tokens, as no number outlives that.
 *
 * <p>One {@code add} takes a free resource exclusively; {@code gets} and {@code cas} do everything else. The TTL of an item
 * ends a hold, by the server's clock: rounded up to whole seconds, and two more, for how roughly that clock goes. A holder
 * counts on its own TTL alone. Each reader has an item of its own, which ends by itself.
 *
 * <p>Who waits asks again, one per resource and factory, at least once a second. {@code docs/stores/memcached.md} has the
 * commands, and what happens when something fails.
 *
 * <p>Thread-safe. A client given to it stays the caller's.
 */
public final class MemcachedStore implements ExpiringStore, SharedStore, InspectableStore {

    private final Holds holds;
    private final ClientAccess access;

    /**
     * Connects to a server when it is first asked. A host that is unknown, or has another address later, is looked up again
     * as long as there is no connection.
     *
     * @param host name or number
     * @param port usually 11211
     */
    public MemcachedStore(String host, int port) {
        this(opened(new Dsn(host, port, Optional.empty(), Protocol.TEXT)));
    }

    private MemcachedStore(Builder options) {
        ServerCalls link = new ServerCalls(options.access, options.commandTimeout);
        this.holds = new Holds(link, new ServerClock(link), options.prefix, new ResourceMutexes(options.patience));
        this.access = options.access;
    }

    /**
     * Begins a store over a client of the application.
     *
     * @param client of exactly one server, by either protocol; stays open when the store is closed. What its options make
     *     of a lost connection goes for locks as well
     * @return options
     * @throws IllegalArgumentException if it has several servers
     */
    public static Builder builder(MemcachedClient client) {
        return new Builder(ClientAccess.of(Clients.checked(Objects.requireNonNull(client, "client"))));
    }

    private static Builder opened(Dsn dsn) {
        Builder options = new Builder(new OwnClient(dsn, Builder.COMMAND_TIMEOUT, InetAddress::getByName));
        dsn.prefix().ifPresent(options::keyPrefix);
        return options;
    }

    @Override
    public Response save(Request request) {
        return holds.save(request);
    }

    @Override
    public Response refresh(Request request) {
        return holds.refresh(request);
    }

    /** {@inheritDoc} Once a lease has ended nothing is known of it any more, and the answer is false. */
    @Override
    public boolean delete(Key key) {
        return holds.delete(key);
    }

    /** {@inheritDoc} What is left of the lease is told in whole seconds, and rather too little than too much. */
    @Override
    public Optional<Response.Granted> find(Key key) {
        return holds.find(key);
    }

    /** {@inheritDoc} Each is described as {@code 4711@host}, the process that took it. */
    @Override
    public List<Holder> holders(String resource) {
        return holds.holders(resource);
    }

    /** Disconnects, unless the client is the caller's. Holds stay until their TTL is over. */
    @Override
    public void close() {
        access.close();
    }

    /** Options of a store. Not thread-safe. */
    public static final class Builder {

        private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(3);

        private final ClientAccess access;
        private String prefix = "lock:";
        private Duration commandTimeout = COMMAND_TIMEOUT;
        private Duration patience = ResourceMutexes.PATIENCE;

        Builder(ClientAccess access) {
            this.access = access;
        }

        /**
         * Sets what the names of all items begin with, {@code lock:} unless set.
         *
         * @param keyPrefix up to 60 visible ASCII characters without {@code #} and {@code ~}, also none
         * @return this
         * @throws IllegalArgumentException if it is something else
         */
        public Builder keyPrefix(String keyPrefix) {
            this.prefix = ItemName.checkPrefix(keyPrefix);
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

        /** How long a thread waits for others of this store that change the same resource, before it asks all the same. */
        Builder patience(Duration time) {
            this.patience = time;
            return this;
        }

        /**
         * Makes the store.
         *
         * @return a store; closing it leaves the client open
         */
        public MemcachedStore build() {
            return new MemcachedStore(this);
        }
    }

    /**
     * Opens {@code memcached://host[:port]}; {@code ?prefix=} sets the key prefix, {@code protocol=binary} has it speak the
     * binary protocol.
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
            return new MemcachedStore(opened(Dsn.parse(dsn)));
        }
    }
}
