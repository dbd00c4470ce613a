package dev.latchkey.postgres;

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
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StoreProvider;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import javax.sql.DataSource;

/**
 * A lock store that uses session-level advisory locks of a PostgreSQL server, version 13 or newer. It creates nothing on
 * the server. A hold lasts until it is released, the store is closed, or its connection ends for any reason. Holds have
 * no TTL.
 *
 * <p>All uncontended holds share one connection. An acquire is one statement, and so is a release. A waiter blocks in the
 * server's queue, on a connection and a thread of the store. There is one of each per resource and store, regardless of
 * the number of local waiters, which are served in FIFO order. A wait that is cancelled leaves one line in the server's
 * log.
 *
 * <p>When the server closes a connection, its holds are reported as lost within about 50 ms. A network that delivers
 * nothing is noticed after at most 15 seconds. The store makes the server wait 30 seconds before it frees the locks. A
 * fencing token consists of the server's timeline and a transaction id. It grows through crashes and failovers, but not
 * after a database was restored from a dump.
 *
 * <p>The server identifies a resource by 64 bits of its SHA-256. A collision with other advisory locks of an application
 * in the same database is very unlikely. Locks of different databases are independent of each other.
 *
 * <p>When it connects, the store refuses a standby, and a pooler such as PgBouncer.
 *
 * <p>Thread-safe.
 */
public final class PostgresAdvisoryStore implements SharedStore, BlockingStore, InspectableStore, ProcessBound {

    private final Sessions sessions;
    private final PlatformThreads threads = new PlatformThreads("latchkey-postgres");
    private final LockTable rooms;
    private final SessionMonitor watch;

    /**
     * Creates a store that uses connections from a source, opened when they are first needed.
     *
     * @param source returns a new physical connection of the PostgreSQL driver each time, such as
     *     {@code org.postgresql.ds.PGSimpleDataSource}. A pool, or any other wrapper of connections, is refused on first
     *     use with a {@link LockStorageException}: it would lend a connection with our locks to others
     */
    public PostgresAdvisoryStore(DataSource source) {
        this.sessions = new Sessions(Objects.requireNonNull(source, "source"));
        this.rooms = new LockTable(sessions, threads);
        this.watch = new SessionMonitor(sessions, rooms, threads);
    }

    @Override
    public Response save(Request request) {
        String resource = request.key().resource();
        try {
            checkOpen(resource);
            return watched(resource, threads.uninterrupted(() -> rooms.in(resource, room -> room.save(request))));
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
                    threads.interruptible(() -> rooms.waitIn(resource, room -> {
                        watch.needed();
                        return room.waitAndSave(request, endNanos, withdrawn);
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
            return threads.uninterrupted(() -> rooms.in(key.resource(), room -> room.delete(key)));
        } catch (SQLException e) {
            throw failed(key.resource(), e);
        }
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        try {
            return threads.uninterrupted(() -> rooms.in(key.resource(), room -> room.find(key)));
        } catch (SQLException e) {
            throw failed(key.resource(), e);
        }
    }

    /**
     * {@inheritDoc} Holders of this store are described as {@code this process, server process 4711}, others by the id of
     * their server process, with application and host as far as this user may see them.
     */
    @Override
    public List<Holder> holders(String resource) {
        try {
            checkOpen(resource);
            return threads.uninterrupted(
                    () -> rooms.in(resource, room -> Inspection.holders(room.id(), room.holds(), sessions)));
        } catch (SQLException e) {
            throw failed(resource, e);
        }
    }

    @Override
    public String reason() {
        return "an advisory lock belongs to the connection that took it";
    }

    /**
     * Acquires the exclusive lock of a resource in a transaction of the caller, which keeps it until it commits or rolls
     * back. In the meantime, no other transaction and no store holds the lock. The statement waits as long as the
     * {@code lock_timeout} and {@code statement_timeout} of the connection allow, and cannot be interrupted.
     *
     * <p>There is no fencing token, because the lock protects exactly what the transaction writes. Acquiring the lock
     * twice does no harm.
     *
     * @param connection a connection to the database of this store, through any pooler, with autocommit off; the caller
     *     owns it
     * @param resource the name of what the lock protects
     * @throws IllegalStateException if the connection is in autocommit mode; nothing was sent
     * @throws dev.latchkey.LockConflictedException if {@code lock_timeout} was over, or the wait was part of a deadlock;
     *     the transaction can only be rolled back
     * @throws LockStorageException if the statement failed in another way
     */
    public void transactionLock(Connection connection, String resource) {
        TransactionLocks.await(connection, resource, Statements.TRANSACTION_EXCLUSIVE);
    }

    /**
     * Acquires the shared lock of a resource in a transaction of the caller, which keeps it until it commits or rolls
     * back. The statement waits as long as the {@code lock_timeout} and {@code statement_timeout} of the connection
     * allow, and cannot be interrupted.
     *
     * @param connection a connection to the database of this store, through any pooler, with autocommit off; the caller
     *     owns it
     * @param resource the name of what the lock protects
     * @throws IllegalStateException if the connection is in autocommit mode; nothing was sent
     * @throws dev.latchkey.LockConflictedException if {@code lock_timeout} was over, or the wait was part of a deadlock;
     *     the transaction can only be rolled back
     * @throws LockStorageException if the statement failed in another way
     */
    public void transactionLockShared(Connection connection, String resource) {
        TransactionLocks.await(connection, resource, Statements.TRANSACTION_SHARED);
    }

    /**
     * Acquires the exclusive lock of a resource in a transaction of the caller if that is possible now; never waits. The
     * transaction keeps the lock until it commits or rolls back.
     *
     * @param connection a connection to the database of this store, through any pooler, with autocommit off; the caller
     *     owns it
     * @param resource the name of what the lock protects
     * @return false if somebody else holds the lock or waits for it; the transaction has not changed
     * @throws IllegalStateException if the connection is in autocommit mode; nothing was sent
     * @throws LockStorageException if the statement failed
     */
    public boolean tryTransactionLock(Connection connection, String resource) {
        return TransactionLocks.attempt(connection, resource, Statements.TRANSACTION_TRY_EXCLUSIVE);
    }

    /**
     * Acquires the shared lock of a resource in a transaction of the caller if that is possible now; never waits. The
     * transaction keeps the lock until it commits or rolls back.
     *
     * @param connection a connection to the database of this store, through any pooler, with autocommit off; the caller
     *     owns it
     * @param resource the name of what the lock protects
     * @return false if somebody else holds the lock exclusively or waits to do so; the transaction has not changed
     * @throws IllegalStateException if the connection is in autocommit mode; nothing was sent
     * @throws LockStorageException if the statement failed
     */
    public boolean tryTransactionLockShared(Connection connection, String resource) {
        return TransactionLocks.attempt(connection, resource, Statements.TRANSACTION_TRY_SHARED);
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
        rooms.removeDead();
    }

    /** The connections, for tests. */
    Sessions sessions() {
        return sessions;
    }

    /** How many resources are held or waited for. */
    int resources() {
        return rooms.size();
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
     * Opens {@code postgresql+advisory://user:password@host:port/database}, with options of the driver after a question
     * mark, such as {@code ?sslmode=verify-full}. Several hosts are separated by commas, with
     * {@code ?targetServerType=primary}. Connects when first needed.
     */
    public static final class Provider implements StoreProvider {

        /** Called by {@link java.util.ServiceLoader}. */
        public Provider() {}

        @Override
        public Set<String> schemes() {
            return Set.of(ConnectionSettings.SCHEME);
        }

        @Override
        public PersistingStore open(String dsn) {
            return new PostgresAdvisoryStore(ConnectionSettings.parse(dsn).source());
        }
    }
}
