package dev.latchkey.mysql;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.PlatformThreads;
import dev.latchkey.spi.ProcessBound;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.StoreProvider;
import dev.latchkey.spi.UnfencedStore;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import javax.sql.DataSource;

/**
 * A lock store that uses {@code GET_LOCK} of a MariaDB or MySQL server. It creates nothing on the server. A hold lasts until
 * it is released, the store is closed, or its connection ends for any reason. Holds have no TTL, are always exclusive, and
 * have no fencing token: such a number would need a table, which {@code JdbcStore} has. Therefore no
 * {@link dev.latchkey.combined.CombinedStore} takes it as a member.
 *
 * <p>Tested on MariaDB 10.11, through MariaDB's driver. Not run on MySQL: what is said about it is based on its
 * documentation.
 *
 * <p>All uncontended holds share one connection. An acquire is one statement, and so is a release. A waiter blocks in the
 * server's queue, on a connection and a thread of the store. There is one of each per resource and store, regardless of
 * the number of local waiters, which are served in FIFO order.
 *
 * <p>Each connection with a hold is pinged when nothing was sent for 250 ms, so its end is reported within about 300 ms. A
 * network that delivers nothing is noticed after at most 11 seconds. The server frees the locks of a client that it has not
 * heard for 30 seconds, and a holder that was frozen that long knows it as soon as it goes on.
 *
 * <p>Locks belong to one server. They are not replicated, and all databases of the server share their names. A name of up to
 * 64 characters among {@code a-z 0-9 . _ : / @ # -} is used as it is, any other is hashed. When it connects, the store
 * refuses a read-only server, a node of a Galera cluster, and a proxy that hides the server's connections.
 *
 * <p>Thread-safe.
 */
public final class MySqlLockStore implements BlockingStore, InspectableStore, ProcessBound, UnfencedStore {

    private final Sessions sessions;
    private final PlatformThreads threads = new PlatformThreads("latchkey-mysql");
    private final LockTable entries;
    private final SessionMonitor watch;

    /**
     * Creates a store that uses connections from a source, opened when they are first needed.
     *
     * @param source returns a new physical connection of MariaDB's driver each time, such as
     *     {@code org.mariadb.jdbc.MariaDbDataSource}. A pool, or any other wrapper of connections, is refused on first use
     *     with a {@link LockStorageException}: it would lend a connection with our locks to others
     */
    public MySqlLockStore(DataSource source) {
        this.sessions = new Sessions(Objects.requireNonNull(source, "source"));
        this.entries = new LockTable(sessions, threads);
        this.watch = new SessionMonitor(sessions, entries, threads);
    }

    @Override
    public Response save(Request request) {
        String resource = request.key().resource();
        try {
            checkOpen(resource);
            return watched(resource, threads.uninterrupted(() -> entries.in(resource, entry -> entry.save(request))));
        } catch (SQLException e) {
            throw failed(resource, e);
        }
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        long endNanos = System.nanoTime() + maxWait.toNanos();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        String resource = request.key().resource();
        try {
            checkOpen(resource);
            return watched(
                    resource,
                    threads.interruptible(() -> entries.waitIn(resource, entry -> {
                        watch.needed();
                        return entry.waitAndSave(request, endNanos, withdrawn);
                    })));
        } catch (SQLException e) {
            throw failed(resource, e);
        }
    }

    private Response watched(String resource, Response response) {
        if (response instanceof Response.Granted) {
            // Perhaps because the store is being closed, and with it the session of whoever held it here.
            checkOpen(resource);
            watch.needed();
        }
        return response;
    }

    /**
     * {@inheritDoc}
     *
     * @return true if the key was the holder, confirmed by the server
     * @throws LockStorageException if the server did not answer; the hold has ended nevertheless, or ends as soon as the
     *     server notices that its connection is closed
     */
    @Override
    public boolean delete(Key key) {
        try {
            return threads.uninterrupted(() -> entries.in(key.resource(), entry -> entry.delete(key)));
        } catch (SQLException e) {
            throw failed(key.resource(), e);
        }
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        try {
            return threads.uninterrupted(() -> entries.in(key.resource(), entry -> entry.find(key)));
        } catch (SQLException e) {
            throw failed(key.resource(), e);
        }
    }

    /**
     * {@inheritDoc} A holder of this store is described as {@code this process, connection 4711}, another one by the id of its
     * connection, with user and host as far as this user may see them.
     */
    @Override
    public List<Holder> holders(String resource) {
        try {
            checkOpen(resource);
            return threads.uninterrupted(() -> entries.in(resource, entry -> Inspection.holders(entry, sessions)));
        } catch (SQLException e) {
            throw failed(resource, e);
        }
    }

    @Override
    public String reason() {
        return "a lock of GET_LOCK belongs to the connection that took it";
    }

    @Override
    public String alternative() {
        return "JdbcStore, which keeps them in a table of this server: the artifact dev.latchkey:lock-store-jdbc, mariadb://… or"
                + " mysql://…";
    }

    /**
     * Releases all holds of this store, fails its waits and closes its connections. Every later call except
     * {@code delete} and {@code find} throws a {@link LockStorageException}.
     */
    @Override
    public void close() {
        threads.uninterrupted(() -> {
            sessions.close();
            return true;
        });
        threads.close();
        watch.close();
        entries.removeDead();
    }

    /** The connections, for tests. */
    Sessions sessions() {
        return sessions;
    }

    /** How many resources are held or waited for. */
    int resources() {
        return entries.size();
    }

    private void checkOpen(String resource) {
        if (sessions.isClosed()) {
            throw Failures.closed(resource);
        }
    }

    private LockStorageException failed(String resource, SQLException cause) {
        return sessions.isClosed() ? Failures.closed(resource) : Failures.failed(resource, cause);
    }

    /**
     * Opens {@code mysql+getlock://user:password@host:port/database} or {@code mariadb+getlock://…}, both with MariaDB's
     * driver and its options after a question mark, such as {@code ?sslMode=verify-full}. The database may be left out.
     * Connects when first needed. The application adds the driver, {@code org.mariadb.jdbc:mariadb-java-client}.
     */
    public static final class Provider implements StoreProvider {

        /** Called by {@link java.util.ServiceLoader}. */
        public Provider() {}

        @Override
        public Set<String> schemes() {
            return ConnectionSettings.SCHEMES;
        }

        @Override
        public PersistingStore open(String dsn) {
            try {
                return new MySqlLockStore(ConnectionSettings.parse(dsn).source());
            } catch (NoClassDefFoundError e) {
                throw new IllegalArgumentException(
                        "the DSN of GET_LOCK needs MariaDB's driver, which is not on the class path: add the artifact"
                                + " org.mariadb.jdbc:mariadb-java-client",
                        e);
            }
        }
    }
}
