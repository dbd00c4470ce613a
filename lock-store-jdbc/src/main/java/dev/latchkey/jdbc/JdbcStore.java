package dev.latchkey.jdbc;

import dev.latchkey.Key;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.HandoffStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.IndexedBatchStore;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.NotifyingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.ReleaseSubscription;
import dev.latchkey.spi.ReleaseSubscriptions;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
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
import java.util.Set;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/**
 * Keeps holds as rows of an SQL database: PostgreSQL, MySQL, MariaDB, H2, HSQLDB, SQLite, SQL Server or Oracle, found
 * from the connection. An exclusive acquire is one statement and a release is one, each in autocommit on a connection
 * that the store has for just that call. A shared one reads the row and writes it if nobody else has meanwhile, so that
 * no row is ever locked while a client thinks.
 *
 * <p>The database's clock decides when a lease ends. Fencing tokens are the greater of the last plus one and that clock
 * in microseconds. Rows stay after a release, for their tokens, until a {@linkplain Builder#retention retention} is over.
 *
 * <p>On PostgreSQL a release that somebody waits for is announced; while anybody waits, the store has one connection that
 * listens. On the other databases those who wait ask again, one per resource and factory, at most twice a second.
 *
 * <p>Thread-safe. Takes part in no transaction of the caller, except by {@link #guard}.
 */
public final class JdbcStore
        implements ExpiringStore, SharedStore, InspectableStore, NotifyingStore, HandoffStore, IndexedBatchStore {

    private final Database database;
    private final Holds holds;
    private final Batches batches;
    private final StateIndexes indexes;
    private final NotificationListener listener;
    private final ReleaseSubscriptions wakeups;
    private final Runnable end;

    /**
     * Uses a pool of the application, and a table {@code latchkey_lock} that is created when it is first needed. Nothing
     * is connected yet.
     *
     * @param dataSource where connections come from; closed by whoever made it. Best a pool of its own: an acquire inside
     *     a transaction needs a second connection
     * @throws IllegalArgumentException if it would hand out the connections of running transactions
     */
    public JdbcStore(DataSource dataSource) {
        this(builder(dataSource));
    }

    private JdbcStore(Builder builder) {
        TableName table = new TableName(builder.schema, builder.table);
        Pruning pruning = new Pruning(builder.retention);
        this.database = new Database(builder.dataSource, table, builder.owner);
        this.holds = new Holds(database, pruning);
        this.indexes = new StateIndexes(database, table.ofIndexes(), builder.owner);
        this.batches = new Batches(database, indexes, pruning);
        this.listener = new NotificationListener(database.connections(), builder.table);
        this.wakeups = new ReleaseSubscriptions("latchkey-jdbc-listener", listener);
        this.end = builder.end;
    }

    /**
     * Begins a store with more than a pool.
     *
     * @param dataSource as {@link #JdbcStore(DataSource)}
     * @return a builder
     * @throws IllegalArgumentException as {@link #JdbcStore(DataSource)}
     */
    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    /**
     * Creates the table if it is not there, whoever else does so at the same time. Not needed unless
     * {@link Builder#existingTable} was said: the store does it by itself.
     *
     * @throws LockStorageException if that failed
     */
    public void createTable() {
        database.createTable();
    }

    @Override
    public Response save(Request request) {
        return holds.save(request);
    }

    @Override
    public Response refresh(Request request) {
        return holds.refresh(request);
    }

    /**
     * {@inheritDoc} One after the other. One whose row a transaction has locked, as {@link #guard} does, fails after a second:
     * the others do not wait for it.
     */
    @Override
    public List<RefreshResult> refreshAll(List<Request> requests, Duration within) {
        return requests.stream()
                .map(request -> RefreshResult.of(() -> holds.renewAmongOthers(request)))
                .toList();
    }

    @Override
    public boolean delete(Key key) {
        return holds.delete(key);
    }

    /** {@inheritDoc} On PostgreSQL alone. */
    @Override
    public boolean canHandOff() {
        return database.canHandOff();
    }

    @Override
    public Optional<Response.Granted> handOff(Key from, Request next) {
        return holds.handOff(from, next);
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return holds.find(key);
    }

    /** {@inheritDoc} Each is described as {@code 4711@host}, the process that took it. */
    @Override
    public List<Holder> holders(String resource) {
        return holds.look(resource).holders();
    }

    /** {@inheritDoc} In one transaction, after everything is decided. */
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
        return batches.deleteAll(keys);
    }

    /** {@inheritDoc} In a table beside that of the locks, its name with {@code _index}; created when it is first needed. */
    @Override
    public Map<String, StateIndex> indexes(Collection<String> resources) {
        return indexes.read(resources);
    }

    @Override
    public void raise(Map<String, StateIndex> raised) {
        indexes.raise(raised);
    }

    @Override
    public ReleaseSubscription watch(String resource) {
        return database.announces() ? wakeups.watch(ResourceName.of(resource)) : ReleaseSubscription.never();
    }

    /**
     * Makes the caller's transaction fail unless the key still holds exclusively, and keeps everybody else from taking
     * the resource until that transaction ends: what it writes is then protected by more than a lease. Nobody can refresh
     * or release it meanwhile either, so this belongs right before the commit.
     *
     * @param connection in a transaction of the caller, on the database of this store
     * @param key with what it holds, as {@link dev.latchkey.Lock#key()} gives it
     * @throws LockLostException if the key is no longer the holder; roll back then
     * @throws LockStorageException if the database failed; roll back then
     * @throws IllegalArgumentException if the key does not claim an exclusive hold, or the connection is in autocommit
     *     mode, where the guard would end at once
     */
    public void guard(Connection connection, Key key) {
        new TransactionGuard(database).check(connection, key);
    }

    /** Ends listening, and closes the pool if a DSN opened it. */
    @Override
    public void close() {
        Uninterruptibles.run(() -> {
            wakeups.close();
            listener.awaitEnd();
            end.run();
        });
    }

    /** What a {@link JdbcStore} can be told. Not thread-safe. */
    public static final class Builder {

        private static final Duration RETENTION = Duration.ofHours(1);
        private static final Duration SHORTEST_RETENTION = Duration.ofMinutes(1);

        private final DataSource dataSource;
        private Optional<String> schema = Optional.empty();
        private String table = Sql.TABLE;
        private Schema.Owner owner = Schema.Owner.STORE;
        private Duration retention = RETENTION;
        private Runnable end = () -> {};

        private Builder(DataSource dataSource) {
            this.dataSource = Pools.checked(Objects.requireNonNull(dataSource, "dataSource"));
        }

        /**
         * Uses another table than {@code latchkey_lock}.
         *
         * @param name a letter or {@code _}, then up to 47 more letters, digits or {@code _}
         * @return this
         * @throws IllegalArgumentException if it is not such a name
         */
        public Builder table(String name) {
            this.table = new TableName(schema, name).table();
            return this;
        }

        /**
         * Uses a table in this schema instead of the one connections begin in. The schema must be there.
         *
         * @param name as {@link #table}
         * @return this
         * @throws IllegalArgumentException if it is not such a name
         */
        public Builder schema(String name) {
            this.schema = new TableName(Optional.of(name), table).schema();
            return this;
        }

        /**
         * Leaves the table to the application: the store never creates it, and needs no right to.
         *
         * @return this
         */
        public Builder existingTable() {
            this.owner = Schema.Owner.APPLICATION;
            return this;
        }

        /**
         * Keeps the rows of resources that nobody holds for this long, one hour unless set. Fencing tokens could come
         * again only if the database's clock were set back by more.
         *
         * @param time at least a minute
         * @return this
         * @throws IllegalArgumentException if it is less
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
         * Makes the store. Nothing is connected yet.
         *
         * @return a store; closing it leaves the pool open
         */
        public JdbcStore build() {
            return new JdbcStore(this);
        }
    }

    /**
     * Opens {@code jdbc:…}, any URL of a JDBC driver on the class path, and {@code postgresql://user:password@host/database},
     * {@code mysql://…}, {@code mariadb://…} in the form other tools use, with the driver's options after a question mark. An
     * option that the driver does not know is refused.
     */
    public static final class Provider implements StoreProvider {

        /** For {@link java.util.ServiceLoader}. */
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
