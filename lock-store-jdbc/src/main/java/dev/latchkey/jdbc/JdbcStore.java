package dev.latchkey.jdbc;

import dev.latchkey.Key;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.jdbc.Database.Repeat;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.ForceReleaseStore;
import dev.latchkey.spi.HandoffStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.IndexedBatchStore;
import dev.latchkey.spi.KeptHolds;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.NotifyingStore;
import dev.latchkey.spi.PermitStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.ReleaseSubscription;
import dev.latchkey.spi.ReleaseSubscriptions;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.ResourcePage;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SemaphoreStore;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StateCheck;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.spi.StoreProvider;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/**
 * A lock store that uses rows of an SQL database: PostgreSQL, MySQL, MariaDB, H2, HSQLDB, SQLite, SQL Server or Oracle,
 * as detected from the connection. An exclusive acquire is one statement, and so is a release, each in autocommit mode on
 * a connection that the store uses for just that call. A shared acquire reads the row, and writes it if it has not
 * changed since, so that no row is locked between two round trips.
 *
 * <p>The clock of the database decides when a lease ends. A fencing token is the last one plus one, or that clock in
 * microseconds if that is greater. Rows stay after a release, for their tokens, until the last token is older than the
 * {@linkplain Builder#retention retention}.
 *
 * <p>On PostgreSQL, a release notifies waiters. While there are waiters, the store uses one connection to listen. On
 * other databases, waiters poll: one per resource and factory, after pauses that grow from 5 ms to between half a second
 * and a second. A reader that waits for promotion polls for itself.
 *
 * <p>On PostgreSQL, a sticky hold is recalled by a notification. From the first request for one on, the store uses one connection to
 * listen; without it, nothing is kept.
 *
 * <p>The store takes part in no transaction of the caller, except by {@link #guard}.
 *
 * <p>Thread-safe.
 */
public final class JdbcStore
        implements ExpiringStore,
                SharedStore,
                ListingStore,
                ForceReleaseStore,
                NotifyingStore,
                HandoffStore,
                SemaphoreStore,
                IndexedBatchStore {

    private final DataSource dataSource;
    private final Database database;
    private final Pruning pruning;
    private final Batches batches;
    private final StateIndexes indexes;
    private final NotificationListener listener;
    private final ReleaseSubscriptions wakeups;
    private final JdbcPermits permits;
    private final KeptHolds kept = new KeptHolds(ResourceName::of);
    private final RecallableRows recallable;
    private final Runnable end;

    /**
     * Creates a store that uses a pool of the application, and a table {@code latchkey_lock} that is created when it is
     * first needed. Does not connect yet.
     *
     * @param dataSource the source of connections; whoever created it closes it. Preferably a separate pool: an acquire
     *     inside a transaction needs a second connection
     * @throws IllegalArgumentException if the data source would return the connections of transactions in progress
     */
    public JdbcStore(DataSource dataSource) {
        this(builder(dataSource));
    }

    private JdbcStore(Builder builder) {
        TableName table = new TableName(builder.schema, builder.table);
        this.dataSource = builder.dataSource;
        this.pruning = new Pruning(builder.retention);
        this.database = new Database(builder.dataSource, table, builder.owner, builder.releases);
        this.indexes = new StateIndexes(database, builder.owner);
        this.batches = new Batches(database, indexes, pruning);
        this.listener = new NotificationListener(database, table.channel(), kept);
        this.wakeups = new ReleaseSubscriptions("latchkey-jdbc-listener", listener);
        this.permits = new JdbcPermits(database, pruning, wakeups);
        this.recallable = new RecallableRows(this, new HoldWatch(database, kept, wakeups, listener));
        this.end = builder.end;
    }

    /**
     * Returns a builder of a store with options.
     *
     * @param dataSource the source of connections; whoever created it closes it. Preferably a separate pool: an acquire
     *     inside a transaction needs a second connection
     * @return a builder
     * @throws IllegalArgumentException if the data source would return the connections of transactions in progress
     */
    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    /**
     * Creates the table if it does not exist, even if others create it at the same time. Only needed with
     * {@link Builder#existingTable}: otherwise the store does it by itself.
     *
     * @throws LockStorageException if the table could not be created
     */
    public void createTable() {
        database.createTable();
    }

    @Override
    public Response save(Request request) {
        // A demotion done twice finds what it did, and takes it for the work of others.
        Repeat repeat = request.isDemotion() ? Repeat.NEVER : Repeat.HARMLESS;
        // Not since when the lease counts: a request that is not answered is sent again, maybe after a recall.
        long sentNanos = System.nanoTime();
        Response response = database.call(request.key().resource(), repeat, HoldWork.save(request));
        return response instanceof Response.Granted granted ? kept.watch(request, granted, sentNanos) : response;
    }

    @Override
    public Response refresh(Request request) {
        Response response = database.call(request.key().resource(), Repeat.HARMLESS, HoldWork.refresh(request));
        return kept.watch(request, response);
    }

    /**
     * {@inheritDoc} The holds are refreshed one after the other. If a transaction has locked a row, as {@link #guard}
     * does, its refresh fails after a second, so that the others do not wait for it.
     */
    @Override
    public List<RefreshResult> refreshAll(List<Request> requests, Duration within) {
        return requests.stream()
                .map(request -> RefreshResult.of(() -> refreshAmongOthers(request)))
                .toList();
    }

    private Response refreshAmongOthers(Request request) {
        Response response =
                database.call(request.key().resource(), Repeat.HARMLESS, HoldWork.refreshAmongOthers(request));
        return kept.watch(request, response);
    }

    @Override
    public boolean delete(Key key) {
        boolean isSticky = kept.released(key);
        return isSticky
                ? database.call(key.resource(), Repeat.HARMLESS, new StickyRelease(key, pruning))
                : database.call(key.resource(), Repeat.NEVER, HoldWork.delete(key, pruning));
    }

    /** {@inheritDoc} Only on PostgreSQL. */
    @Override
    public boolean canHandOff() {
        return database.canHandOff();
    }

    @Override
    public Optional<Response.Granted> handOff(Key from, Request next) {
        OptionalLong claim = HoldWork.exclusiveClaim(from);
        return claim.isPresent()
                ? database.call(from.resource(), Repeat.NEVER, HoldWork.handOff(from, claim.getAsLong(), next, pruning))
                : Optional.empty();
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return database.call(key.resource(), Repeat.HARMLESS, HoldWork.find(key));
    }

    /** {@inheritDoc} Each holder is described by its owner name. When a shared hold was granted is not kept. */
    @Override
    public List<Holder> holders(String resource) {
        return database.call(resource, Repeat.HARMLESS, HoldWork.look(resource)).holders();
    }

    /**
     * {@inheritDoc} The order is that of the key of the table. A name that takes more than about 1,200 characters in the table
     * is listed by its start and three dots.
     */
    @Override
    public ResourcePage list(String prefix, Optional<String> after, int limit) {
        return database.call(prefix, Repeat.HARMLESS, new Listing(prefix, after, limit));
    }

    /** {@inheritDoc} The holder learns of it by its next renewal; that of a sticky lock at once. */
    @Override
    public boolean forceRelease(String resource, long fencingToken) {
        return database.call(resource, Repeat.NEVER, HoldWork.forceRelease(resource, fencingToken));
    }

    /** {@inheritDoc} All rows are written in one transaction, after everything was decided. */
    @Override
    public BatchAttempt saveAll(List<Request> requests) {
        return batches.saveAll(requests, Optional.empty());
    }

    @Override
    public BatchAttempt saveAll(List<Request> requests, StateCheck check) {
        return batches.saveAll(requests, Optional.of(check));
    }

    @Override
    public int deleteAll(List<Key> keys) {
        keys.forEach(key -> {
            boolean unused = kept.released(key);
        });
        return batches.deleteAll(keys);
    }

    /**
     * {@inheritDoc} The indexes are in a separate table, whose name is that of the lock table with {@code _index}; it is
     * created when it is first needed.
     */
    @Override
    public Map<String, StateIndex> indexes(Collection<String> resources) {
        return indexes.read(resources);
    }

    @Override
    public void raise(Map<String, StateIndex> raised) {
        indexes.raise(raised);
    }

    /**
     * {@inheritDoc} PostgreSQL alone can recall holds, for sticky locks. Which database it is comes out with the first connection,
     * which this opens if there was none; it is taken for PostgreSQL if there is none to be had.
     */
    @Override
    public <T> Optional<T> capability(Class<T> type) {
        if (type == RecallableStore.class) {
            return recallable.watch().mayRecall() ? Optional.of(type.cast(recallable)) : Optional.empty();
        }
        return IndexedBatchStore.super.capability(type);
    }

    @Override
    public ReleaseSubscription watch(String resource) {
        return database.announces() ? wakeups.watch(ResourceName.of(resource)) : ReleaseSubscription.never();
    }

    /**
     * {@inheritDoc} Each semaphore is a row of the table of the locks. There is no queue: those who wait for permits poll, and are
     * notified on PostgreSQL.
     */
    @Override
    public PermitStore permits() {
        return permits;
    }

    /**
     * Makes the caller's transaction fail unless the key still holds the lock exclusively, and prevents everybody else
     * from acquiring the resource until that transaction ends. The writes of the transaction are then protected by more
     * than a lease. In the meantime, nobody can refresh or release the hold either, so call this method right before the
     * commit. A rollback to an earlier savepoint undoes the guard: call it again then.
     *
     * @param connection a connection in a transaction of the caller, to the database of this store
     * @param key the key with its hold, as {@link dev.latchkey.Lock#key()} returns it
     * @throws LockLostException if the key is no longer the holder; roll back
     * @throws LockStorageException if the database failed; roll back
     * @throws IllegalArgumentException if the key does not claim an exclusive hold, or if the connection is in autocommit
     *     mode, in which the guard would end at once
     */
    public void guard(Connection connection, Key key) {
        new TransactionGuard(database).check(connection, key);
    }

    /**
     * Returns the source of the connections of this store, for code that has to know whether a transaction is in its database.
     *
     * @return what the store was created with, or the pool that a DSN opened
     */
    public DataSource dataSource() {
        return dataSource;
    }

    /** Stops listening, and closes the pool if a DSN opened it. */
    @Override
    public void close() {
        Uninterruptibles.run(() -> {
            wakeups.close();
            listener.awaitEnd();
            end.run();
        });
    }

    /** Options of a {@link JdbcStore}. Not thread-safe. */
    public static final class Builder {

        private static final Duration RETENTION = Duration.ofHours(1);
        private static final Duration SHORTEST_RETENTION = Duration.ofMinutes(1);

        private final DataSource dataSource;
        private Optional<String> schema = Optional.empty();
        private String table = Sql.TABLE;
        private Schema.Owner owner = Schema.Owner.STORE;
        private ReleaseCommit releases = ReleaseCommit.ASYNCHRONOUS;
        private Duration retention = RETENTION;
        private Runnable end = () -> {};

        private Builder(DataSource dataSource) {
            this.dataSource = Pools.checked(Objects.requireNonNull(dataSource, "dataSource"));
        }

        /**
         * Sets the name of the table. The default is {@code latchkey_lock}.
         *
         * @param name a letter or {@code _}, then up to 47 more letters, digits or {@code _}
         * @return this
         * @throws IllegalArgumentException if {@code name} is not such a name
         */
        public Builder table(String name) {
            this.table = new TableName(schema, name).table();
            return this;
        }

        /**
         * Sets the schema of the table, which must exist. The default is the schema in which the first connection finds or
         * creates the table.
         *
         * @param name a letter or {@code _}, then up to 47 more letters, digits or {@code _}
         * @return this
         * @throws IllegalArgumentException if {@code name} is not such a name
         */
        public Builder schema(String name) {
            this.schema = new TableName(Optional.of(name), table).schema();
            return this;
        }

        /**
         * Leaves the table to the application: the store never creates it, and does not need the permission to.
         *
         * @return this
         */
        public Builder existingTable() {
            this.owner = Schema.Owner.APPLICATION;
            return this;
        }

        /**
         * Makes each release wait until PostgreSQL has written it to the disk and to synchronous replicas. By default, a
         * release does not wait for that: if the server crashes within about a second of a release, the released lock is
         * held until the end of its lease. Other databases always wait as they are configured to.
         *
         * @return this
         * @see <a href="https://www.postgresql.org/docs/current/wal-async-commit.html">Asynchronous commit</a>
         */
        public Builder durableRelease() {
            this.releases = ReleaseCommit.DURABLE;
            return this;
        }

        /**
         * Sets how long a row without holders is kept after it got its last fencing token, or after a lease that was not
         * released ended. The default is one hour. Fencing tokens can repeat only if the clock of the database is set back by
         * more than this.
         *
         * @param time at least one minute
         * @return this
         * @throws IllegalArgumentException if {@code time} is less
         */
        public Builder retention(Duration time) {
            if (time.compareTo(SHORTEST_RETENTION) < 0) {
                throw new IllegalArgumentException(
                        "a retention of " + time + " is too short: it must be at least " + SHORTEST_RETENTION);
            }
            this.retention = time;
            return this;
        }

        Builder closing(Runnable pool) {
            this.end = pool;
            return this;
        }

        /**
         * Creates the store. Does not connect yet.
         *
         * @return a store; closing it does not close the pool
         */
        public JdbcStore build() {
            return new JdbcStore(this);
        }
    }

    /**
     * Opens {@code jdbc:…}, any URL of a JDBC driver on the class path, and
     * {@code postgresql://user:password@host/database}, {@code mysql://…} and {@code mariadb://…} in the form that other
     * tools use, with the driver's options after a question mark. An option that the driver does not know is refused.
     * {@code durable-release=true} among the options is {@link Builder#durableRelease}.
     */
    public static final class Provider implements StoreProvider {

        /** Called by {@link java.util.ServiceLoader}. */
        public Provider() {}

        @Override
        public Set<String> schemes() {
            return Set.of("jdbc", "postgresql", "mysql", "mariadb");
        }

        @Override
        public PersistingStore open(String dsn) {
            return Pools.open(Dsn.parse(dsn), UnaryOperator.identity());
        }
    }
}
