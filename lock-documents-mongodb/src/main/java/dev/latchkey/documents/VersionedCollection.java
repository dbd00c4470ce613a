package dev.latchkey.documents;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoWriteException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.codecs.Codec;
import org.bson.conversions.Bson;

/**
 * A collection in which each change of a document creates a new version, and is refused if the stored document has
 * another version than the one that was changed. No lock is held between loading and saving: the slower of two writers is
 * refused, and repeats or merges its change.
 *
 * <pre>{@code
 * VersionedCollection<Document> posts = VersionedCollection.of(database.getCollection("posts"));
 * ChangeResult<Document> result = posts.addOrUpdate(
 *         42, Document::new, post -> post.append("reads", post.getInteger("reads", 0) + 1));
 * }</pre>
 *
 * <p>Methods do not change the objects that are passed to them. They return what is stored, with its new version, and
 * with its id if it had none. An attempt that fails, or a transaction that is aborted, therefore leaves no wrong version
 * in memory. An object that one method returned can be passed to the next.
 *
 * <p>Writes are also refused while somebody else holds the {@linkplain DocumentLocks lock} of the document. A version
 * that is {@code null}, missing or 0 means that the document was never stored, or never versioned.
 *
 * <p>Only the root of a document has a version; a change of an embedded document is a change of the root. All writers
 * must use this class, or increment the version themselves.
 *
 * <p>Failures of the server or the network are thrown as the driver's own {@link com.mongodb.MongoException}.
 *
 * <p>Thread-safe if the codecs are.
 *
 * @param <T> the type of the documents: {@link Document}, or any type for which the collection has a codec
 */
public final class VersionedCollection<T> {

    private final Mapping<T> mapping;
    private final Commands commands;
    private final Guard guard;
    private final Retry retry;
    private final Duration allowedClockSkew;
    private final GuardedWrites writes;
    private final SaveLoop<T> saving;

    private VersionedCollection(
            Mapping<T> mapping, Commands commands, Guard guard, Retry retry, Duration allowedClockSkew) {
        this.mapping = mapping;
        this.commands = commands;
        this.guard = guard;
        this.retry = retry;
        this.allowedClockSkew = allowedClockSkew;
        this.writes = new GuardedWrites(mapping, commands, guard);
        this.saving = new SaveLoop<>(mapping, writes, retry);
    }

    /**
     * Returns a view of a collection with versions of type {@code int} in the field {@code version}.
     *
     * @param collection the collection, with its codecs and write concern; reads go to the primary
     * @param <T> the type of the documents
     * @return the view
     * @throws IllegalArgumentException if the write concern is unacknowledged
     */
    public static <T> VersionedCollection<T> of(MongoCollection<T> collection) {
        return builder(collection).build();
    }

    /**
     * Returns a view of a collection of objects for which the driver has no codec, with versions of type {@code int} in
     * the field {@code version}.
     *
     * @param collection the collection, with its write concern; reads go to the primary
     * @param decode converts a document to an object, which must keep its id and version
     * @param encode converts an object to a document with that id and version
     * @param <T> the type of the objects
     * @return the view
     * @throws IllegalArgumentException if the write concern is unacknowledged
     */
    public static <T> VersionedCollection<T> of(
            MongoCollection<Document> collection, Function<Document, T> decode, Function<T, Document> encode) {
        return builder(collection, decode, encode).build();
    }

    /**
     * Returns a builder of a view with options. The defaults are those of {@link #of(MongoCollection)}.
     *
     * @param collection the collection, with its codecs and write concern; reads go to the primary
     * @param <T> the type of the documents
     * @return a builder
     */
    public static <T> Builder<T> builder(MongoCollection<T> collection) {
        Codec<T> codec = collection.getCodecRegistry().get(collection.getDocumentClass());
        return new Builder<>(collection, Conversion.of(codec));
    }

    /**
     * Returns a builder of a view with options, for objects for which the driver has no codec. The defaults are those of
     * {@link #of(MongoCollection, Function, Function)}.
     *
     * @param collection the collection, with its write concern; reads go to the primary
     * @param decode converts a document to an object, which must keep its id and version
     * @param encode converts an object to a document with that id and version
     * @param <T> the type of the objects
     * @return a builder
     */
    public static <T> Builder<T> builder(
            MongoCollection<Document> collection, Function<Document, T> decode, Function<T, Document> encode) {
        Codec<Document> codec = collection.getCodecRegistry().get(Document.class);
        return new Builder<>(collection, Conversion.of(codec, decode, encode));
    }

    VersionedCollection<T> guardedBy(Guard other) {
        return new VersionedCollection<>(mapping, commands, other, retry, allowedClockSkew);
    }

    /**
     * Returns a view whose reads and writes belong to a session, and to its transaction while it has one. In a unit of
     * work of {@link Transactions}, use {@link UnitOfWork#in(VersionedCollection)} instead.
     *
     * @param session a session of this collection's client; only one thread may use it and the view
     * @return the view
     */
    public VersionedCollection<T> in(ClientSession session) {
        return new VersionedCollection<>(mapping, commands.in(session), guard, retry, allowedClockSkew);
    }

    Duration allowedClockSkew() {
        return allowedClockSkew;
    }

    Mapping<T> mapping() {
        return mapping;
    }

    Commands commands() {
        return commands;
    }

    /**
     * Loads a document, whether or not it is locked.
     *
     * @param id an id of any type for which the collection has a codec
     * @return empty if the document does not exist
     */
    public Optional<T> find(Object id) {
        return writes.load(id(id)).map(mapping::decode);
    }

    /**
     * Loads a document if it has the expected version.
     *
     * @param id an id of any type for which the collection has a codec
     * @param expected the version that the caller has loaded
     * @return empty if the document does not exist
     * @throws OptimisticLockException if the document has another version
     * @throws IllegalArgumentException if versions of this collection have another type
     */
    public Optional<T> find(Object id, Version expected) {
        Optional<Version> known = mapping.known(expected);
        Optional<BsonDocument> found = writes.load(id(id));
        found.ifPresent(document -> {
            if (!mapping.version(document).equals(known)) {
                throw writes.conflict(id(id), known, found);
            }
        });
        return found.map(mapping::decode);
    }

    /**
     * Returns the version of a document as it was loaded.
     *
     * @param document a document that a method of this class returned, or that the application created
     * @return empty if it has no version
     */
    public Optional<Version> version(T document) {
        return mapping.version(mapping.encode(document));
    }

    /**
     * Stores a new document. If it has no version, it gets the first one: 1, or the current time. Otherwise it keeps its
     * version.
     *
     * @param document the document; without an id, it gets an {@link org.bson.types.ObjectId}
     * @return the document as stored
     * @throws MongoWriteException of the category {@link ErrorCategory#DUPLICATE_KEY} if the document exists already
     */
    public T insert(T document) {
        BsonDocument encoded = mapping.encode(document);
        Version version = mapping.version(encoded).orElseGet(mapping.versionType()::first);
        return mapping.decode(writes.insert(encoded, version));
    }

    /**
     * Replaces the version from which a document was made. Nothing of the stored document remains, except a lock.
     *
     * @param document a document with its id, and with the version it had when it was loaded
     * @return the document as stored
     * @throws OptimisticLockException if the stored document has another version, or was deleted
     * @throws dev.latchkey.LockConflictedException if somebody else holds its lock
     */
    public T replace(T document) {
        BsonDocument encoded = mapping.encode(document);
        BsonValue id = Mapping.idOf(encoded);
        Optional<Version> expected = mapping.version(encoded);
        return mapping.decode(
                writes.required(id, expected, () -> writes.replace(id, expected, mapping.next(expected), encoded)));
    }

    /**
     * Changes a document with update operators. They may change embedded documents.
     *
     * @param id an id of any type for which the collection has a codec
     * @param expected the version that the caller has loaded
     * @param update operators, for example from {@link com.mongodb.client.model.Updates}, that do not change the version
     * @return the document as stored
     * @throws OptimisticLockException if the stored document has another version, or was deleted
     * @throws dev.latchkey.LockConflictedException if somebody else holds its lock
     * @throws IllegalArgumentException if the update changes the version, or has no operators
     */
    public T update(Object id, Version expected, Bson update) {
        Optional<Version> known = mapping.known(expected);
        BsonDocument operators = UpdateOperators.check(commands.toBson(update), mapping.versionField());
        return mapping.decode(
                writes.required(id(id), known, () -> writes.update(id(id), known, mapping.next(known), operators)));
    }

    /**
     * Deletes a document if nobody has changed it since it was loaded.
     *
     * @param document a document with its id, and with the version it had when it was loaded
     * @return false if the document was deleted already
     * @throws OptimisticLockException if the stored document has another version
     * @throws dev.latchkey.LockConflictedException if somebody else holds its lock
     */
    public boolean delete(T document) {
        BsonDocument encoded = mapping.encode(document);
        return delete(Mapping.idOf(encoded), mapping.version(encoded));
    }

    private boolean delete(BsonValue id, Optional<Version> expected) {
        for (int tries = 1; ; tries++) {
            if (writes.delete(id, expected)) {
                return true;
            }
            Optional<BsonDocument> current = writes.loadRefused(id, expected);
            if (current.isEmpty()) {
                return false;
            }
            if (tries == GuardedWrites.TRIES || !mapping.version(current.get()).equals(expected)) {
                throw writes.conflict(id, expected, current);
            }
        }
    }

    /**
     * Loads a document, changes it, and saves it. If somebody else was faster, all of this is repeated, with pauses of
     * random length. If the document does not exist, it is created. Only fields that the change has modified or removed
     * are written.
     *
     * @param id an id of any type for which the collection has a codec
     * @param factory creates the initial document if there is none; called once in each such attempt
     * @param change called once in each attempt, so it must not have side effects; it may change its argument, or return
     *     another object with the same id
     * @return the result; a document that is deleted between loading and saving is not created again
     * @throws dev.latchkey.LockConflictedException if somebody else holds its lock
     * @throws com.mongodb.MongoServerException if the server refuses the document, for example because of another unique
     *     index; thrown at once, without another attempt
     * @throws InterruptedException if the thread was interrupted during a pause between attempts; nothing was written
     */
    public ChangeResult<T> addOrUpdate(Object id, Supplier<T> factory, UnaryOperator<T> change)
            throws InterruptedException {
        Objects.requireNonNull(factory, "the factory must not be null: use update for documents that must be there");
        return saving.change(id(id), Optional.of(factory), change);
    }

    /**
     * Loads a document, changes it, and saves it. If somebody else was faster, all of this is repeated, with pauses of
     * random length. If the document does not exist, nothing happens. Only fields that the change has modified or removed
     * are written.
     *
     * @param id an id of any type for which the collection has a codec
     * @param change called once in each attempt, so it must not have side effects; it may change its argument, or return
     *     another object with the same id. It is not called if there is no document
     * @return the result
     * @throws dev.latchkey.LockConflictedException if somebody else holds its lock
     * @throws com.mongodb.MongoServerException if the server refuses the document, for example because of another unique
     *     index; thrown at once, without another attempt
     * @throws InterruptedException if the thread was interrupted during a pause between attempts; nothing was written
     */
    public ChangeResult<T> update(Object id, UnaryOperator<T> change) throws InterruptedException {
        return saving.change(id(id), Optional.empty(), change);
    }

    /**
     * Saves a change. If somebody else has changed the document in the meantime, merges both changes, property by
     * property.
     *
     * @param base the document as it was loaded
     * @param mine the changed document, with the same id
     * @param policy decides if both have changed the same property, or somebody else has deleted the document
     * @return the result; {@link ChangeResult.Created} if the policy stores a deleted document again
     * @throws OptimisticLockException if the policy refuses
     * @throws dev.latchkey.LockConflictedException if somebody else holds its lock
     * @throws InterruptedException if the thread was interrupted during a pause between attempts; nothing was written
     */
    public ChangeResult<T> merge(T base, T mine, MergePolicy policy) throws InterruptedException {
        return saving.merge(mapping.encode(base), Optional.of(mapping.encode(mine)), policy);
    }

    /**
     * Saves a change. If somebody else has changed the document in the meantime, merges both changes, property by
     * property, with {@link MergePolicy#MINE_UNLESS_DELETED}.
     *
     * @param base the document as it was loaded
     * @param mine the changed document, with the same id
     * @return the result
     * @throws dev.latchkey.LockConflictedException if somebody else holds its lock
     * @throws InterruptedException if the thread was interrupted during a pause between attempts; nothing was written
     */
    public ChangeResult<T> merge(T base, T mine) throws InterruptedException {
        return merge(base, mine, MergePolicy.MINE_UNLESS_DELETED);
    }

    /**
     * Deletes a document. If somebody else has changed it in the meantime, the policy decides.
     *
     * @param base the document as it was loaded
     * @param policy is asked about the whole document: an empty result deletes it, any other result keeps the stored
     *     document
     * @return {@link ChangeResult.Deleted}, {@link ChangeResult.DeletedMeanwhile}, {@link ChangeResult.Unchanged} if the
     *     policy kept it, or {@link ChangeResult.GaveUp}
     * @throws OptimisticLockException if the policy refuses
     * @throws dev.latchkey.LockConflictedException if somebody else holds its lock
     * @throws InterruptedException if the thread was interrupted during a pause between attempts; nothing was written
     */
    public ChangeResult<T> mergeDeletion(T base, MergePolicy policy) throws InterruptedException {
        return saving.merge(mapping.encode(base), Optional.empty(), policy);
    }

    BsonValue id(Object id) {
        return Mapping.idOf(commands.toBson(Filters.eq(Mapping.ID, id)));
    }

    /**
     * Options of a {@link VersionedCollection}. Not thread-safe.
     *
     * @param <T> the type of the documents
     */
    public static final class Builder<T> {

        private final MongoCollection<?> collection;
        private final Conversion<T> conversion;
        private String versionField = "version";
        private Version.Type type = Version.Type.INT;
        private Retry retry = new Retry(200, Duration.ofSeconds(30));
        private Duration allowedClockSkew = Duration.ZERO;

        private Builder(MongoCollection<?> collection, Conversion<T> conversion) {
            this.collection = collection;
            this.conversion = conversion;
        }

        /**
         * Sets the field and the type of the versions. The default is {@code version}, an {@code INT}.
         *
         * @param field the name of a field of the root, as in the database
         * @param versionType the type of all versions in this collection
         * @return this builder
         */
        public Builder<T> version(String field, Version.Type versionType) {
            this.versionField = field;
            this.type = versionType;
            return this;
        }

        /**
         * Limits the attempts of changes. The default is 200 attempts within 30 s.
         *
         * @param maxAttempts 1 or more
         * @param maxWait no attempt starts after this time; zero tries once
         * @return this builder
         */
        public Builder<T> retry(int maxAttempts, Duration maxWait) {
            this.retry = new Retry(maxAttempts, maxWait);
            return this;
        }

        /**
         * Sets the maximum difference between the clocks of any two {@code mongos} of a sharded cluster. Each
         * {@code mongos} decides by its own clock which leases are over: a lock that is not released is taken over that
         * much later. Required on a sharded cluster with {@link DocumentLocks}, where there can be two holders of a lock
         * if the clocks differ by more. A collection cannot tell whether it is on a sharded cluster. On a replica set, it
         * is the maximum difference between the clocks of the members, because after an election the clock of another
         * member decides. All users of the collection must set the same value. The default is zero.
         *
         * @param difference zero or more
         * @return this builder
         * @throws IllegalArgumentException if {@code difference} is negative
         */
        public Builder<T> allowedClockSkew(Duration difference) {
            if (difference.isNegative()) {
                throw new IllegalArgumentException("an allowed clock skew of " + difference + " must not be negative");
            }
            this.allowedClockSkew = difference;
            return this;
        }

        /**
         * Creates the view of the collection. Sends no request.
         *
         * @return the view
         * @throws IllegalArgumentException if the version field is not a field of the root, or the write concern of the
         *     collection is unacknowledged
         */
        public VersionedCollection<T> build() {
            if (!collection.getWriteConcern().isAcknowledged()) {
                // A document that is there already would be told as created, and what it was to be would be lost.
                throw new IllegalArgumentException("writes of " + collection.getNamespace()
                        + " are not acknowledged, so that nobody would be told who was faster: the least is"
                        + " WriteConcern.W1");
            }
            Mapping<T> mapping = new Mapping<>(conversion, versionField, type, collection.getNamespace());
            return new VersionedCollection<>(
                    mapping, Commands.of(collection), new Guard.Unlocked(allowedClockSkew), retry, allowedClockSkew);
        }
    }
}
