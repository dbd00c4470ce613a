package dev.latchkey.mongodb;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.ForceReleaseStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.IndexStore;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.NotifyingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ReleaseSubscription;
import dev.latchkey.spi.ReleaseSubscriptions;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.ResourcePage;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.spi.StoreProvider;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.bson.BsonDocument;

/**
 * A lock store that uses documents of a MongoDB collection, version 4.2 or later: on one server, a replica set or a
 * sharded cluster. An acquire, exclusive or shared, is one command, and so is a release. The server decides within the
 * command, by its clock. In a sharded cluster, each {@code mongos} decides by its own clock, which must be
 * {@linkplain Builder#allowedClockSkew allowed}.
 *
 * <p>A grant has been written to the journals of a majority, so that no election loses it. A fencing token is the last
 * one plus one, or the server's clock in microseconds if that is greater. Documents stay after a release, for their
 * tokens, until a {@linkplain Builder#retention retention} time is over.
 *
 * <p>On a replica set or a sharded cluster, one change stream per store notifies waiters of releases. Otherwise waiters
 * poll: one per resource and factory, after pauses that grow from 5 ms to between half a second and a second. A
 * reader that waits for promotion polls for itself.
 *
 * <p>State indexes are separate documents in the same collection, which nothing deletes. Many are read by one command,
 * and raised by one.
 *
 * <p>The store takes part in no session or transaction of the caller.
 *
 * <p>Thread-safe.
 */
public final class MongoDbStore
        implements ExpiringStore, SharedStore, ListingStore, ForceReleaseStore, NotifyingStore, IndexStore {

    private final DriverCalls calls;
    private final Holds holds;
    private final Listing listing;
    private final StateIndexes stateIndexes;
    private final CleanupIndex index;
    private final ReleaseSubscriptions wakeups;
    private final Runnable end;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    private MongoDbStore(Builder builder) {
        builder.checkSkew();
        this.calls = new DriverCalls();
        // The driver creates no client on an interrupted thread.
        CollectionLocation place = calls.apart(() -> builder.source.place(builder.database, builder.collection));
        Deployment deployment = new Deployment(place.database(), calls, builder.allowedClockSkew);
        MongoCollection<BsonDocument> collection = LockCommands.of(place.collection(), builder.writeConcern);
        LockCommands documents = new LockCommands(collection, calls);
        this.holds = new Holds(documents, deployment, builder.retention);
        this.listing = new Listing(documents);
        this.stateIndexes = new StateIndexes(collection, calls);
        this.index = new CleanupIndex(documents, builder.indexOwner);
        this.wakeups = new ReleaseSubscriptions("latchkey-mongodb-listener", new ChangeStreamListener(documents));
        this.end = place.end();
    }

    /**
     * Returns a builder of a store in a database; {@link Builder#collection} sets the collection. No request is sent
     * until the store is used.
     *
     * @param database the database; whoever created its client closes it. Its read and write concern, read preference,
     *     codecs and collation are not used
     * @return a builder
     */
    public static Builder builder(MongoDatabase database) {
        return new Builder(CollectionLocation.of(Objects.requireNonNull(database, "database")));
    }

    /**
     * Returns a builder of a store that uses a client; {@link Builder#database} and {@link Builder#collection} set the
     * location.
     *
     * @param client the client; whoever created it closes it
     * @return a builder
     */
    public static Builder builder(MongoClient client) {
        return new Builder(CollectionLocation.of(Objects.requireNonNull(client, "client")));
    }

    /**
     * Returns a builder of a store with its own client.
     *
     * @param uri {@code mongodb://…/database?collection=name}, or {@code mongodb+srv://…}, with options of the driver.
     *     The database and the collection in the URI have precedence over those of the builder. The option
     *     {@code allowedClockSkewMS} is {@link Builder#allowedClockSkew} in milliseconds
     * @return a builder
     * @throws IllegalArgumentException if it is not such a URI, or has an unknown option
     */
    public static Builder builder(String uri) {
        Uri parsed = Uri.parse(uri);
        Builder builder = new Builder(CollectionLocation.of(parsed));
        parsed.allowedClockSkew().ifPresent(builder::allowedClockSkew);
        return builder;
    }

    /**
     * Creates the index by which the server deletes documents that have not been used for long, even if others create it
     * at the same time. Only needed with {@link Builder#existingIndex}: otherwise the store creates it after its first
     * release, and only warns if that fails.
     *
     * @throws LockStorageException if this failed, for example without the permission {@code createIndex}, or took more
     *     than five seconds, for example while a voting member of the replica set is down
     */
    public void createIndexes() {
        index.create();
    }

    @Override
    public Response save(Request request) {
        return holds.save(request);
    }

    @Override
    public Response refresh(Request request) {
        return holds.refresh(request);
    }

    @Override
    public boolean delete(Key key) {
        boolean wasHolder = holds.delete(key);
        index.createIfDue();
        return wasHolder;
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return holds.find(key);
    }

    /** {@inheritDoc} Each holder is described as {@code 4711@host}, the process that acquired the lock. */
    @Override
    public List<Holder> holders(String resource) {
        return holds.holders(resource);
    }

    /**
     * {@inheritDoc} The order is that of the server. A name of more than 512 bytes is not stored, and is listed as its
     * beginning of 64 characters, {@code #} and its SHA-256 in hexadecimal, to which the prefix is compared.
     */
    @Override
    public ResourcePage list(String prefix, Optional<String> after, int limit) {
        return listing.page(prefix, after, limit);
    }

    /** {@inheritDoc} The holder learns of it by its next renewal, as of a lease that is over. */
    @Override
    public boolean forceRelease(String resource, long fencingToken) {
        return holds.forceRelease(resource, fencingToken);
    }

    @Override
    public Map<String, StateIndex> indexes(Collection<String> resources) {
        return stateIndexes.of(resources);
    }

    @Override
    public void raise(Map<String, StateIndex> indexes) {
        stateIndexes.raise(indexes);
    }

    @Override
    public ReleaseSubscription watch(String resource) {
        return wakeups.watch(ResourceName.of(resource));
    }

    /**
     * Stops listening, and closes the client if the store was created from a URI. Works on an interrupted thread as well.
     */
    @Override
    public void close() {
        wakeups.close();
        if (isClosed.getAndSet(true)) {
            return;
        }
        try {
            // On an interrupted thread, the driver closes only a part of what it has opened.
            boolean unused = calls.once("", () -> {
                end.run();
                return true;
            });
        } finally {
            calls.close();
        }
    }

    /** Options of a {@link MongoDbStore}. Not thread-safe. */
    public static final class Builder {

        private static final Duration RETENTION = Duration.ofHours(1);
        private static final Duration SHORTEST_RETENTION = Duration.ofMinutes(1);
        private static final int ACKNOWLEDGED_SECONDS = 5;

        private final CollectionLocation.Source source;
        private Optional<String> database = Optional.empty();
        private Optional<String> collection = Optional.empty();
        private WriteConcern writeConcern =
                WriteConcern.MAJORITY.withJournal(true).withWTimeout(ACKNOWLEDGED_SECONDS, TimeUnit.SECONDS);
        private Duration retention = RETENTION;
        private CleanupIndex.Owner indexOwner = CleanupIndex.Owner.STORE;
        private Optional<Duration> allowedClockSkew = Optional.empty();

        private Builder(CollectionLocation.Source source) {
            this.source = source;
        }

        /**
         * Sets the name of the database, for a client, or for a URI that names none.
         *
         * @param name the name of the database
         * @return this
         */
        public Builder database(String name) {
            this.database = Optional.of(name);
            return this;
        }

        /**
         * Sets the name of the collection, for a client or a database, or for a URI that names none. Use a collection
         * that contains only locks.
         *
         * @param name the name of the collection
         * @return this
         */
        public Builder collection(String name) {
            this.collection = Optional.of(name);
            return this;
        }

        /**
         * Sets the write concern with which a lock counts as written. The default is the journals of a majority, within
         * five seconds. With less, an election may lose a lock that is held.
         *
         * @param concern the write concern
         * @return this
         * @throws IllegalArgumentException if {@code concern} is unacknowledged
         */
        public Builder writeConcern(WriteConcern concern) {
            if (!concern.isAcknowledged()) {
                throw new IllegalArgumentException(
                        "a write that is not acknowledged says nothing about who holds a lock:"
                                + " the least is WriteConcern.W1");
            }
            this.writeConcern = concern;
            return this;
        }

        /**
         * Sets how long documents of resources without holders are kept. The default is one hour. Fencing tokens can
         * repeat only if the server's clock is set back by more than this.
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

        /**
         * Allows a sharded cluster, in which each {@code mongos} decides by its own clock, and sets the maximum
         * difference between these clocks. A hold that ends without a release is taken over that much later. If the
         * clocks differ by more, there can be two holders of one lock. Without this option, a store on a sharded cluster
         * refuses to acquire locks.
         *
         * <p>On a replica set, it is the maximum difference between the clocks of the members, because after an election
         * the clock of another member decides.
         *
         * @param difference the maximum difference between any two of the clocks, including those of the primaries of the
         *     shards: more than zero and less than the retention time
         * @return this
         * @throws IllegalArgumentException if {@code difference} is not positive
         */
        public Builder allowedClockSkew(Duration difference) {
            if (difference.isZero() || difference.isNegative()) {
                throw new IllegalArgumentException(
                        "an allowed clock skew of " + difference + " must be more than zero");
            }
            this.allowedClockSkew = Optional.of(difference);
            return this;
        }

        /** Otherwise a slower clock could issue a fencing token again. */
        private void checkSkew() {
            allowedClockSkew.filter(skew -> skew.compareTo(retention) >= 0).ifPresent(skew -> {
                throw new IllegalArgumentException(
                        "an allowed clock skew of " + skew + " must be less than the retention of " + retention);
            });
        }

        /**
         * Leaves the index to the application, which calls {@link MongoDbStore#createIndexes()} with the necessary
         * permission.
         *
         * @return this
         */
        public Builder existingIndex() {
            this.indexOwner = CleanupIndex.Owner.APPLICATION;
            return this;
        }

        /**
         * Creates the store. Sends no request yet.
         *
         * @return a store
         * @throws IllegalArgumentException if the database or the collection is missing, or the allowed clock skew is not
         *     less than the retention time
         */
        public MongoDbStore build() {
            return new MongoDbStore(this);
        }
    }

    /**
     * Opens {@code mongodb://user:password@host[:port],…/database?collection=name} and {@code mongodb+srv://…}, with
     * options of the driver.
     */
    public static final class Provider implements StoreProvider {

        /** Called by {@link java.util.ServiceLoader}. */
        public Provider() {}

        @Override
        public Set<String> schemes() {
            return Set.of("mongodb", "mongodb+srv");
        }

        @Override
        public PersistingStore open(String dsn) {
            return builder(dsn).build();
        }
    }
}
