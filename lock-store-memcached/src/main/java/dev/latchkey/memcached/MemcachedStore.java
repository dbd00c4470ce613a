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
import dev.latchkey.spi.UnfencedStore;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import net.spy.memcached.ConnectionFactoryBuilder.Protocol;
import net.spy.memcached.MemcachedClient;

/**
 * A lock store that uses items of one Memcached server, version 1.4.14 or later, for work that may be done twice: a cache
 * can lose data. The server drops locks without notice when it is restarted, flushed or short of memory. A holder finds
 * out when it refreshes or asks. There are no fencing tokens, because no number survives such a loss.
 *
 * <p>One {@code add} acquires a free resource exclusively; {@code gets} and {@code cas} do everything else. The TTL of an
 * item ends a hold, by the server's clock. It is rounded up to whole seconds, plus three more because of the low resolution
 * of that clock. A holder relies only on its own TTL. Each reader has its own item, which ends by itself.
 *
 * <p>Waiters poll: one per resource and factory, at least once a second. {@code docs/stores/memcached.md} lists the
 * commands and the failures.
 *
 * <p>A client that is passed to the store belongs to the caller.
 *
 * <p>Thread-safe.
 */
public final class MemcachedStore implements ExpiringStore, SharedStore, InspectableStore, UnfencedStore {

    private final Holds holds;
    private final ClientAccess access;

    /**
     * Creates a store that connects to a server when it is first used. As long as there is no connection, the store looks
     * up the host again, so the host may be unknown at first, and may change its address.
     *
     * @param host the name or address
     * @param port the port, usually 11211
     */
    public MemcachedStore(String host, int port) {
        this(opened(new Dsn(host, port, Optional.empty(), Protocol.TEXT, Builder.COMMAND_TIMEOUT)));
    }

    private MemcachedStore(Builder options) {
        ServerCalls link = new ServerCalls(options.access, options.commandTimeout);
        this.holds = new Holds(link, new ServerClock(link), options.prefix, new ResourceMutexes(options.patience));
        this.access = options.access;
    }

    /**
     * Returns a builder of a store over a client of the application.
     *
     * @param client a client of exactly one server, for either protocol; it stays open when the store is closed. Its
     *     options for lost connections apply to locks as well. One without credentials may give answers to the wrong calls
     *     after it has lost a connection, as {@code docs/stores/memcached.md} says
     * @return a builder
     * @throws IllegalArgumentException if the client has several servers
     */
    public static Builder builder(MemcachedClient client) {
        return new Builder(ClientAccess.of(Clients.checked(Objects.requireNonNull(client, "client"))));
    }

    private static Builder opened(Dsn dsn) {
        Builder options = new Builder(new OwnClient(dsn, InetAddress::getByName));
        options.commandTimeout(dsn.timeout());
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

    /** {@inheritDoc} When a lease has ended, nothing is known about it any more, and the result is false. */
    @Override
    public boolean delete(Key key) {
        return holds.delete(key);
    }

    /** {@inheritDoc} What is left of the lease is rather too short than too long. */
    @Override
    public Optional<Response.Granted> find(Key key) {
        return holds.find(key);
    }

    /** {@inheritDoc} Each holder is described as {@code 4711@host}, the process that acquired the lock. */
    @Override
    public List<Holder> holders(String resource) {
        return holds.holders(resource);
    }

    @Override
    public String alternative() {
        return "a store that keeps its data, such as JdbcStore or RedisStore";
    }

    /** Disconnects, unless the client belongs to the caller. Holds stay until their TTL is over. */
    @Override
    public void close() {
        access.close();
    }

    /** Options of a {@link MemcachedStore}. Not thread-safe. */
    public static final class Builder {

        static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(3);

        private final ClientAccess access;
        private String prefix = "lock:";
        private Duration commandTimeout = COMMAND_TIMEOUT;
        private Duration patience = ResourceMutexes.PATIENCE;

        Builder(ClientAccess access) {
            this.access = access;
        }

        /**
         * Sets the prefix of the names of all items. The default is {@code lock:}.
         *
         * @param keyPrefix up to 60 visible ASCII characters without {@code #} and {@code ~}; may be empty
         * @return this
         * @throws IllegalArgumentException if {@code keyPrefix} is anything else
         */
        public Builder keyPrefix(String keyPrefix) {
            this.prefix = ItemName.checkPrefix(keyPrefix);
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
         * Creates the store.
         *
         * @return a store; closing it does not close the client
         */
        public MemcachedStore build() {
            return new MemcachedStore(this);
        }
    }

    /**
     * Opens {@code memcached://host[:port]}. {@code ?prefix=} sets the key prefix, {@code protocol=binary} selects the
     * binary protocol, and {@code timeout} is the time limit of a command, 3s by default.
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
            return new MemcachedStore(opened(Dsn.parse(dsn)));
        }
    }
}
