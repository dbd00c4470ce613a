package dev.latchkey.mongodb;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.IndexStore;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.NotifyingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ReleaseSubscription;
import dev.latchkey.spi.ReleaseSubscriptions;
import dev.latchkey.spi.Request;
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
 * Keeps holds as documents of a MongoDB collection, from 4.2 on: one server, a replica set or a sharded cluster. An
 * acquire, exclusive or shared, is one command and a release is one. The server decides within the command, by its clock;
 * behind a sharded cluster each {@code mongos} by its own, which must be {@linkplain Builder#allowedClockSkew allowed}.
 *
 * <p>What is granted has been written to the journals of a majority, so that no election forgets it. Fencing tokens are
 * the greater of the last plus one and the server's clock in microseconds. Documents stay after a release, for their
 * tokens, until a {@linkplain Builder#retention retention} is over.
 *
 * <p>On a replica set or a sharded cluster waiters hear of releases by one change stream per store. Elsewhere those who
 * wait ask again, one per resource and factory, at most twice a second.
 *
 * <p>State indexes are documents of their own in the same collection, which nothing deletes. Many are looked up by one
 * command, and raised by one.
 *
 * <p>Thread-safe. Takes part in no session or transaction of the caller.
 */
public final class MongoDbStore implements ExpiringStore, SharedStore, InspectableStore, NotifyingStore, IndexStore {

    private final DriverCalls calls;
    private final Holds holds;
    private final StateIndexes stateIndexes;
    private final CleanupIndex index;
    private final ReleaseSubscriptions wakeups;
    private final Runnable end;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    private MongoDbStore(Builder builder) {
        builder.checkSkew();
        this.calls = new DriverCalls();
        // The driver makes no client on a thread that is interrupted.
        CollectionLocation place = calls.apart(() -> builder.source.place(builder.database, builder.collection));
        Deployment deployment = new Deployment(place.database(), calls, builder.allowedClockSkew);
        MongoCollection<BsonDocument> collection = LockCommands.of(place.collection(), builder.writeConcern);
        LockCommands documents = new LockCommands(collection, calls);
        this.holds = new Holds(documents, deployment, builder.retention);
        this.stateIndexes = new StateIndexes(collection, calls);
        this.index = new CleanupIndex(documents, builder.indexOwner);
        this.wakeups = new ReleaseSubscriptions("latchkey-mongodb-listener", new ChangeStreamListener(documents));
        this.end = place.end();
    }

    /**
     * Begins a store in a database; {@link Builder#collection} says in which collection. Nothing is asked until it is used.
     *
     * @param database closed with its client, by whoever made that. Its read and write concern, read preference, codecs and
     *     collation are not used
     * @return a builder
     */
    public static Builder builder(MongoDatabase database) {
        return new Builder(CollectionLocation.of(Objects.requireNonNull(database, "database")));
    }

    /**
     * Begins a store of a client; {@link Builder#database} and {@link Builder#collection} say where.
     *
     * @param client closed by whoever made it
     * @return a builder
     */
    public static Builder builder(MongoClient client) {
        return new Builder(CollectionLocation.of(Objects.requireNonNull(client, "client")));
    }

    /**
     * Begins a store with a client of its own.
     *
     * @param uri {@code mongodb://…/database?collection=name}, or {@code mongodb+srv://…}, with options of the driver.
     *     The database and the collection that it names are used even if the builder is told others. The option
     *     {@code allowedClockSkewMS} says what {@link Builder#allowedClockSkew} does
     * @return a builder
     * @throws IllegalArgumentException if it is no such URI, or has an option that nobody knows
     */
    public static Builder builder(String uri) {
        Uri parsed = Uri.parse(uri);
        Builder builder = new Builder(CollectionLocation.of(parsed));
        parsed.allowedClockSkew().ifPresent(builder::allowedClockSkew);
        return builder;
    }

    /**
     * Has the index there by which the server deletes what has not been used for long, whoever else creates it at the same
     * time. Not needed unless {@link Builder#existingIndex} was said: the store does it by itself after its first release,
     * and only warns if that fails.
     *
     * @throws LockStorageException if it failed, for instance for lack of the right {@code createIndex}, or took more than
     *     five seconds, as while a voting member of the replica set is down
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

    /** {@inheritDoc} Each is described as {@code 4711@host}, the process that took it. */
    @Override
    public List<Holder> holders(String resource) {
        return holds.holders(resource);
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

    /** Ends listening, and closes the client if the store was made from a URI. Works for an interrupted thread as well. */
    @Override
    public void close() {
        wakeups.close();
        if (isClosed.getAndSet(true)) {
            return;
        }
        try {
            // The driver ends half of what it has on a thread that is interrupted.
            boolean unused = calls.once("", () -> {
                end.run();
                return true;
            });
        } finally {
            calls.close();
        }
    }

    /** What a {@link MongoDbStore} can be told. Not thread-safe. */
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
         * Uses a database of this name, if a client was given, or a URI that names none.
         *
         * @param name of the database
         * @return this
         */
        public Builder database(String name) {
            this.database = Optional.of(name);
            return this;
        }

        /**
         * Uses a collection of this name, if a client or a database was given, or a URI that names none. Locks have it for
         * themselves.
         *
         * @param name of the collection
         * @return this
         */
        public Builder collection(String name) {
            this.collection = Optional.of(name);
            return this;
        }

        /**
         * Has a lock count when fewer have written it than the journals of a majority within five seconds. An election
         * may then forget a lock that is held.
         *
         * @param concern what has to be acknowledged
         * @return this
         * @throws IllegalArgumentException if nothing has to be
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
         * Keeps the documents of resources that nobody holds for this long, one hour unless set. Fencing tokens could come
         * again only if the server's clock were set back by more.
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

        /**
         * Allows a sharded cluster, where each {@code mongos} decides by its own clock, and says by how much these clocks may
         * differ. Each hold that ends without a release is then taken over that much later. If the clocks differ by more,
         * two may hold one lock. Without it a store on a sharded cluster refuses to take locks.
         *
         * <p>On a replica set it covers how far the clocks of the members may differ, since after an election the clock of
         * another decides.
         *
         * @param difference between any two of the clocks, those of the shards' primaries among them, more than zero, and less
         *     than the retention
         * @return this
         * @throws IllegalArgumentException if it is zero or less
         */
        public Builder allowedClockSkew(Duration difference) {
            if (difference.isZero() || difference.isNegative()) {
                throw new IllegalArgumentException(
                        "an allowed clock skew of " + difference + " must be more than zero");
            }
            this.allowedClockSkew = Optional.of(difference);
            return this;
        }

        /** Else a fencing token could come again that a slower clock gives. */
        private void checkSkew() {
            allowedClockSkew.filter(skew -> skew.compareTo(retention) >= 0).ifPresent(skew -> {
                throw new IllegalArgumentException(
                        "an allowed clock skew of " + skew + " must be less than the retention of " + retention);
            });
        }

        /**
         * Leaves the index to the application, which calls {@link MongoDbStore#createIndexes()} with the right to.
         *
         * @return this
         */
        public Builder existingIndex() {
            this.indexOwner = CleanupIndex.Owner.APPLICATION;
            return this;
        }

        /**
         * Makes the store. Nothing is asked yet.
         *
         * @return a store
         * @throws IllegalArgumentException if the database or the collection is not known, or if the allowed clock skew is
         *     not less than the retention
         */
        public MongoDbStore build() {
            return new MongoDbStore(this);
        }
    }

    /**
     * Opens {@code mongodb://user:password@host[:port],…/database?collection=name} and {@code mongodb+srv://…}, with options
     * of the driver.
     */
    public static final class Provider implements StoreProvider {

        /** For {@link java.util.ServiceLoader}. */
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
