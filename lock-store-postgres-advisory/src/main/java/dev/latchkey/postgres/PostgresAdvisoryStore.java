package dev.latchkey.postgres;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.PersistingStore;
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
 * Keeps holds as session-level advisory locks of a PostgreSQL server, version 13 or newer: nothing is created there. A hold
 * lasts until it is released, the store is closed, or its connection ends, however that comes; it has no TTL.
 *
 * <p>All uncontended holds share one connection, and cost one statement to take and one to release. Whoever waits blocks in
 * the server's queue, on a connection and a thread of the store, of which there is one per resource and store however many
 * wait here; these are served first come, first served. A wait that is broken off leaves one line in the server's log.
 *
 * <p>When the server closes a connection, its holds are reported lost within about 50 ms. A network that goes silent is
 * noticed after at most 15 seconds, before the server, which is told to wait 30, frees the locks. A fencing token is made
 * of the server's timeline and a transaction id, and grows through crashes and failovers; what it does not survive is a
 * database restored from a dump.
 *
 * <p>A resource is known to the server by 64 bits of its SHA-256; applications with advisory locks of their own in the same
 * database are very unlikely to meet one. Locks of different databases have nothing to do with each other.
 *
 * <p>Thread-safe. Refuses a standby, and a pooler such as PgBouncer, when it connects.
 */
public final class PostgresAdvisoryStore implements SharedStore, BlockingStore, InspectableStore, ProcessBound {

    private final Sessions sessions;
    private final StoreThreads threads = new StoreThreads();
    private final LockTable rooms;
    private final SessionMonitor watch;

    /**
     * Uses connections from a source, opened when first needed.
     *
     * @param source gives a new physical connection of the PostgreSQL driver each time, such as
     *     {@code org.postgresql.ds.PGSimpleDataSource}. A pool, and whatever else wraps connections, is refused on first use
     *     by {@link LockStorageException}: it would lend one with our locks to others
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
            return watched(threads.work(() -> rooms.in(resource, room -> room.save(request))));
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
            return watched(threads.wait(() -> rooms.waitIn(resource, room -> {
                watch.needed();
                return room.waitAndSave(request, endNanos, withdrawn);
            })));
        } catch (SQLException e) {
            throw failed(resource, e);
        }
    }

    private Response watched(Response response) {
        if (response instanceof Response.Granted) {
            watch.needed();
        }
        return response;
    }

    /**
     * {@inheritDoc}
     *
     * @return true if the key was the holder and the server agrees
     * @throws LockStorageException if the server did not answer; the hold has ended all the same, or does as soon as the
     *     server notices that its connection is closed
     */
    @Override
    public boolean delete(Key key) {
        try {
            return threads.work(() -> rooms.in(key.resource(), room -> room.delete(key)));
        } catch (SQLException e) {
            throw failed(key.resource(), e);
        }
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        try {
            return threads.work(() -> rooms.in(key.resource(), room -> room.find(key)));
        } catch (SQLException e) {
            throw failed(key.resource(), e);
        }
    }

    /**
     * {@inheritDoc} Holders of this store are described as {@code this process, server process 4711}, others by the id of
     * their server process with application and host, as far as this user may see them.
     */
    @Override
    public List<Holder> holders(String resource) {
        try {
            checkOpen(resource);
            return threads.work(
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
     * Takes the exclusive lock of a resource in a transaction of the caller, which keeps it until it commits or rolls back:
     * no other transaction and no store holds it meanwhile. Waits, in the statement and so deaf to interrupts, as long as
     * the {@code lock_timeout} and {@code statement_timeout} of the connection allow.
     *
     * <p>There is no fencing token, for none is needed: what the transaction writes is excluded with it. Taking it twice
     * does no harm.
     *
     * @param connection of the same database as this store, through any pooler, with autocommit off; it stays the caller's
     * @param resource what is protected
     * @throws IllegalStateException if the connection is in autocommit; nothing was sent
     * @throws dev.latchkey.LockConflictedException if {@code lock_timeout} was over, or the wait was one of a deadlock; the
     *     transaction can only be rolled back
     * @throws LockStorageException if the statement failed in another way
     */
    public void transactionLock(Connection connection, String resource) {
        TransactionLocks.await(connection, resource, Statements.TRANSACTION_EXCLUSIVE);
    }

    /**
     * As {@link #transactionLock}, for the shared lock.
     *
     * @param connection as there
     * @param resource what is protected
     */
    public void transactionLockShared(Connection connection, String resource) {
        TransactionLocks.await(connection, resource, Statements.TRANSACTION_SHARED);
    }

    /**
     * As {@link #transactionLock}, without waiting.
     *
     * @param connection as there
     * @param resource what is protected
     * @return false if somebody else holds it, or waits for it; the transaction is as it was
     */
    public boolean tryTransactionLock(Connection connection, String resource) {
        return TransactionLocks.attempt(connection, resource, Statements.TRANSACTION_TRY_EXCLUSIVE);
    }

    /**
     * As {@link #transactionLockShared}, without waiting.
     *
     * @param connection as there
     * @param resource what is protected
     * @return false if somebody else holds it exclusively, or waits to; the transaction is as it was
     */
    public boolean tryTransactionLockShared(Connection connection, String resource) {
        return TransactionLocks.attempt(connection, resource, Statements.TRANSACTION_TRY_SHARED);
    }

    /**
     * Releases all holds of this store, fails its waits and closes its connections; every later call but {@code delete} and
     * {@code find} throws {@link LockStorageException}.
     */
    @Override
    public void close() {
        try {
            threads.work(() -> {
                sessions.close();
                return true;
            });
        } catch (SQLException e) {
            throw new IllegalStateException("closing connections throws nothing", e);
        }
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
     * mark, such as {@code ?sslmode=verify-full}, and several hosts separated by commas with
     * {@code ?targetServerType=primary}. Connects when first needed.
     */
    public static final class Provider implements StoreProvider {

        /** For {@link java.util.ServiceLoader}. */
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
