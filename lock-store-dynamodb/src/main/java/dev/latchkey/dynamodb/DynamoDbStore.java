package dev.latchkey.dynamodb;

import dev.latchkey.Key;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.ForceReleaseStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.ResourcePage;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.StoreProvider;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * A lock store that uses items of a DynamoDB table. Acquiring a resource that is free is one conditional write, and so is
 * releasing it. A shared request acquires the exclusive lock.
 *
 * <p>No clock is compared with another. Each write gives the record a new version. A holder that has not written for a whole lease,
 * by the monotonic clock of <em>whoever waits</em>, is dead, and is replaced by a write whose condition names the version that was
 * watched. A waiter therefore takes over at most one lease after it has first looked. A {@code tryAcquire()} that looks only once
 * is refused, until this store has watched for that long.
 *
 * <p>A fencing token is the last one plus one. Items stay after a release for their tokens, until DynamoDB cleans them a week later;
 * an item that is made anew gets tokens that no item of the table has had.
 *
 * <p>Thread-safe.
 */
public final class DynamoDbStore implements ExpiringStore, ListingStore, ForceReleaseStore {

    private final Calls calls;
    private final Tables tables;
    private final Holds holds;
    private final Inspection inspection;
    private final Runnable end;

    private DynamoDbStore(Builder builder, DynamoDbClient client, Repetitions repetitions, Runnable end) {
        this.calls = new Calls(builder.timeout, repetitions);
        this.tables = new Tables(client, calls, builder.table);
        Optional<Tables> missingTable = builder.createsTable ? Optional.of(tables) : Optional.empty();
        Items items = new Items(client, calls, builder.table, missingTable);
        Observations observations = new Observations();
        this.holds = new Holds(items, observations);
        this.inspection = new Inspection(items, observations);
        this.end = end;
    }

    /**
     * Returns a builder of a store that uses a client.
     *
     * @param client the client; whoever created it closes it. It may repeat requests: a repetition is recognized, and a renewal or
     *     a release that arrives late has no effect. An acquire that arrives after the release takes the lock for nobody, until
     *     others have watched it for its lease
     * @param table the name of a table that contains only locks
     * @return a builder
     */
    public static Builder builder(DynamoDbClient client, String table) {
        Objects.requireNonNull(client, "client");
        return new Builder(table, builder -> new DynamoDbStore(builder, client, Repetitions.OF_ANYTHING, () -> {}));
    }

    /**
     * Returns a builder of a store with its own client, which finds credentials as the AWS SDK does by default.
     *
     * @param region the name of a region, such as {@code eu-central-1}
     * @param table the name of a table that contains only locks
     * @return a builder
     */
    public static Builder builder(String region, String table) {
        Objects.requireNonNull(region, "region");
        return new Builder(table, builder -> {
            DynamoDbClient client = Clients.open(region, Optional.empty(), builder.timeout);
            return new DynamoDbStore(builder, client, Repetitions.WITHOUT_EFFECT, client::close);
        });
    }

    /**
     * Creates the table if it is not there, and waits until it can be used. It has the string {@code resource} as its key, is paid
     * for by request, and is cleaned by the attribute {@code expiresAt}.
     *
     * @throws dev.latchkey.LockStorageException if this failed, for example without the permission
     */
    public void createTable() {
        tables.create("");
    }

    @Override
    public Response save(Request request) {
        return holds.save(request);
    }

    @Override
    public Response refresh(Request request) {
        return holds.renew(request);
    }

    @Override
    public boolean delete(Key key) {
        return holds.delete(key);
    }

    /**
     * {@inheritDoc} If another store has written the hold, this store renews it, once: nobody knows how much of its lease is left.
     */
    @Override
    public Optional<Response.Granted> find(Key key) {
        return holds.find(key);
    }

    /**
     * {@inheritDoc} The holder is described by its owner name, or as {@code 4711@host}. The rest of the lease is the time after which this store will
     * count it as dead; a holder that died before this store looked is shown for a whole lease.
     */
    @Override
    public List<Holder> holders(String resource) {
        return inspection.holders(resource);
    }

    /**
     * {@inheritDoc} The order is that in which DynamoDB keeps the items. All items of the table are read, also those that are
     * free. A holder that died before this store looked is listed for a whole lease.
     */
    @Override
    public ResourcePage list(String prefix, Optional<String> after, int limit) {
        return inspection.page(prefix, after, limit);
    }

    /** {@inheritDoc} The holder learns of it by its next renewal. */
    @Override
    public boolean forceRelease(String resource, long fencingToken) {
        return holds.forceRelease(resource, fencingToken);
    }

    /** Closes the client if the store created it. Holds last until they are released, or are seen to be dead. */
    @Override
    public void close() {
        if (!calls.isClosed()) {
            calls.close();
            end.run();
        }
    }

    /** Options of a {@link DynamoDbStore}. Not thread-safe. */
    public static final class Builder {

        static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(5);

        private final String table;
        private final Function<Builder, DynamoDbStore> construction;
        private boolean createsTable;
        private Duration timeout = DEFAULT_TIMEOUT;

        Builder(String table, Function<Builder, DynamoDbStore> construction) {
            this.table = Objects.requireNonNull(table, "table");
            this.construction = construction;
        }

        /**
         * Has the store {@linkplain DynamoDbStore#createTable create the table} when it is first needed and missing.
         *
         * @return this
         */
        public Builder createTableIfMissing() {
            this.createsTable = true;
            return this;
        }

        /**
         * Sets how long a request may take. The default is five seconds.
         *
         * @param limit at least a millisecond
         * @return this
         * @throws IllegalArgumentException if it is shorter
         */
        public Builder timeout(Duration limit) {
            if (limit.compareTo(Duration.ofMillis(1)) < 0) {
                throw new IllegalArgumentException("timeout " + limit + ": must be at least 1 ms");
            }
            this.timeout = limit;
            return this;
        }

        /**
         * Creates the store. No request is sent until it is used.
         *
         * @return a store, which the caller closes
         */
        public DynamoDbStore build() {
            return construction.apply(this);
        }

        static Builder of(Dsn dsn) {
            Builder builder = new Builder(dsn.table(), options -> {
                        DynamoDbClient client = Clients.open(dsn.region(), dsn.endpoint(), options.timeout);
                        return new DynamoDbStore(options, client, Repetitions.WITHOUT_EFFECT, client::close);
                    })
                    .timeout(dsn.timeout());
            return dsn.createsTable() ? builder.createTableIfMissing() : builder;
        }
    }

    /**
     * Opens {@code dynamodb://region/table}. {@code create-table=true} after a question mark creates the table if it is missing,
     * {@code timeout} is the time limit of a request, 5s by default, and {@code endpoint} another address of the
     * service. The AWS SDK finds the credentials. No request is sent until the store is used.
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
            return Builder.of(Dsn.parse(dsn)).build();
        }
    }
}
