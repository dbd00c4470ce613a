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
 * Documents whose every change makes a new version, and is refused when it was made to another version than the stored
 * one. No lock is held between loading and saving; who is slower finds out, and repeats or merges.
 *
 * <pre>{@code
 * VersionedCollection<Document> posts = VersionedCollection.of(database.getCollection("posts"));
 * Outcome<Document> outcome = posts.addOrUpdate(
 *         42, Document::new, post -> post.append("reads", post.getInteger("reads", 0) + 1));
 * }</pre>
 *
 * <p>Objects given to a method are not changed by it: what is stored, with its new version, and its id if it had none, is
 * returned. So an attempt that fails, or a transaction that is aborted, leaves no wrong version in memory. An
 * object that was returned by one method can be given to the next.
 *
 * <p>Writes are also refused while somebody else holds the {@linkplain DocumentLocks lock} of the document. A version that
 * is {@code null}, missing or 0 is that of a document that was not versioned yet, or never stored.
 *
 * <p>Only the root of a document has a version; a change of what is embedded in it is a change of the root. All who write
 * must do so through this class, or raise the version themselves.
 *
 * <p>Failures of the server or the network are the driver's own {@link com.mongodb.MongoException}. Thread-safe if the
 * codecs are.
 *
 * @param <T> the documents: {@link Document} or whatever the collection has a codec for
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
     * Makes a collection versioned by an {@code int} in the field {@code version}.
     *
     * @param collection with the codecs and the write concern to be used; reads go to the primary
     * @param <T> the documents
     * @return a view of it
     * @throws IllegalArgumentException if its write concern has nothing acknowledged
     */
    public static <T> VersionedCollection<T> of(MongoCollection<T> collection) {
        return builder(collection).build();
    }

    /**
     * Makes a collection of objects that the driver has no codec for, versioned as by {@link #of(MongoCollection)}.
     *
     * @param collection with the write concern to be used; reads go to the primary
     * @param decode makes an object of a document, and needs to keep its id and its version
     * @param encode makes a document of an object, with that id and version
     * @param <T> the objects
     * @return a view of it
     * @throws IllegalArgumentException if its write concern has nothing acknowledged
     */
    public static <T> VersionedCollection<T> of(
            MongoCollection<Document> collection, Function<Document, T> decode, Function<T, Document> encode) {
        return builder(collection, decode, encode).build();
    }

    /**
     * Begins to say how a collection is versioned.
     *
     * @param collection with the codecs and the write concern to be used; reads go to the primary
     * @param <T> the documents
     * @return a builder with what {@link #of(MongoCollection)} has
     */
    public static <T> Builder<T> builder(MongoCollection<T> collection) {
        Codec<T> codec = collection.getCodecRegistry().get(collection.getDocumentClass());
        return new Builder<>(collection, Conversion.of(codec));
    }

    /**
     * Begins to say how a collection is versioned, of objects that the driver has no codec for.
     *
     * @param collection with the write concern to be used; reads go to the primary
     * @param decode makes an object of a document, and needs to keep its id and its version
     * @param encode makes a document of an object, with that id and version
     * @param <T> the objects
     * @return a builder with what {@link #of(MongoCollection, Function, Function)} has
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
     * Makes a view whose reads and writes are done in a session, and so in its transaction while it has one. Within a unit of
     * work of {@link Transactions} this is what {@link UnitOfWork#in(VersionedCollection)} does.
     *
     * @param session of the client of this collection; it is for one thread, and so is the view
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
     * Loads a document, whether it is locked or not.
     *
     * @param id of any type the collection has a codec for
     * @return empty if there is none
     */
    public Optional<T> find(Object id) {
        return writes.load(id(id)).map(mapping::decode);
    }

    /**
     * Loads a document if nobody changed it since a version.
     *
     * @param id of any type the collection has a codec for
     * @param expected what the caller has seen
     * @return empty if there is none
     * @throws OptimisticLockException if it has another version
     * @throws IllegalArgumentException if versions of this collection are of another type
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
     * @param document by any method of this class, or made by the application
     * @return empty if it has none
     */
    public Optional<Version> version(T document) {
        return mapping.version(mapping.encode(document));
    }

    /**
     * Stores a new document. One without a version gets the first: 1, or the time. One that has a version keeps it.
     *
     * @param document one without an id gets an {@link org.bson.types.ObjectId}
     * @return as it is stored
     * @throws MongoWriteException of the category {@link ErrorCategory#DUPLICATE_KEY} if there is such a document already
     */
    public T insert(T document) {
        BsonDocument encoded = mapping.encode(document);
        Version version = mapping.version(encoded).orElseGet(mapping.versionType()::first);
        return mapping.decode(writes.insert(encoded, version));
    }

    /**
     * Puts a document in the place of the version it was made from: of the stored one nothing is left but a lock.
     *
     * @param document with the id, and the version it had when it was loaded
     * @return as it is stored
     * @throws OptimisticLockException if the stored one has another version, or is gone
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
     * Changes a document by update operators, which may reach into what is embedded.
     *
     * @param id of any type the collection has a codec for
     * @param expected what the caller has seen
     * @param update operators such as {@link com.mongodb.client.model.Updates} makes, none of which names the version
     * @return as it is stored
     * @throws OptimisticLockException if the stored one has another version, or is gone
     * @throws dev.latchkey.LockConflictedException if somebody else holds its lock
     * @throws IllegalArgumentException if the update names the version, or has no operators
     */
    public T update(Object id, Version expected, Bson update) {
        Optional<Version> known = mapping.known(expected);
        BsonDocument operators = UpdateOperators.check(commands.toBson(update), mapping.versionField());
        return mapping.decode(
                writes.required(id(id), known, () -> writes.update(id(id), known, mapping.next(known), operators)));
    }

    /**
     * Deletes a document if nobody changed it since it was loaded.
     *
     * @param document with the id, and the version it had when it was loaded
     * @return false if it was gone already
     * @throws OptimisticLockException if the stored one has another version
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
     * Loads a document, has it changed, and saves it; does all of that again when somebody else was faster, with pauses of
     * random length in between. A document that is not there is made. Of what the document has in the database, only the
     * fields that the change made different are written, or taken away.
     *
     * @param id of any type the collection has a codec for
     * @param factory makes what the change begins with if there is no document; called once in each such attempt
     * @param change called once in each attempt, so without effects elsewhere; may change what it is given, or return
     *     another object with the same id
     * @return what became of it; a document that is deleted between loading and saving is not made again
     * @throws dev.latchkey.LockConflictedException if somebody else holds its lock
     * @throws com.mongodb.MongoServerException if the server refuses the document, for instance because of another unique
     *     index: at once, and never repeated
     * @throws InterruptedException while pausing; nothing was written then
     */
    public ChangeResult<T> addOrUpdate(Object id, Supplier<T> factory, UnaryOperator<T> change)
            throws InterruptedException {
        Objects.requireNonNull(factory, "the factory must not be null: use update for documents that must be there");
        return saving.change(id(id), Optional.of(factory), change);
    }

    /**
     * As {@link #addOrUpdate}, but makes nothing.
     *
     * @param id of any type the collection has a codec for
     * @param change called once in each attempt, so without effects elsewhere; not called if there is no document
     * @return what became of it
     * @throws dev.latchkey.LockConflictedException if somebody else holds its lock
     * @throws InterruptedException while pausing; nothing was written then
     */
    public ChangeResult<T> update(Object id, UnaryOperator<T> change) throws InterruptedException {
        return saving.change(id(id), Optional.empty(), change);
    }

    /**
     * Saves a change; if somebody else changed the document meanwhile, merges the two property by property.
     *
     * @param base the document as it was loaded
     * @param mine the document as it shall be, of the same id
     * @param policy decides where both changed the same property, or the other deleted the document
     * @return what became of it; {@link ChangeResult.Created} if the policy has a document that was deleted stored again
     * @throws OptimisticLockException if the policy refuses
     * @throws dev.latchkey.LockConflictedException if somebody else holds its lock
     * @throws InterruptedException while pausing between attempts; nothing was written then
     */
    public ChangeResult<T> merge(T base, T mine, MergePolicy policy) throws InterruptedException {
        return saving.merge(mapping.encode(base), Optional.of(mapping.encode(mine)), policy);
    }

    /**
     * As {@link #merge(Object, Object, MergePolicy)}, by {@link MergePolicy#MINE_UNLESS_DELETED}.
     *
     * @param base the document as it was loaded
     * @param mine the document as it shall be, of the same id
     * @return what became of it
     * @throws dev.latchkey.LockConflictedException if somebody else holds its lock
     * @throws InterruptedException while pausing between attempts; nothing was written then
     */
    public ChangeResult<T> merge(T base, T mine) throws InterruptedException {
        return merge(base, mine, MergePolicy.MINE_UNLESS_DELETED);
    }

    /**
     * Deletes a document; if somebody else changed it meanwhile, as the policy says.
     *
     * @param base the document as it was loaded
     * @param policy asked about the whole document: nothing deletes it, anything keeps what the other made of it
     * @return {@link ChangeResult.Deleted}, {@link ChangeResult.DeletedMeanwhile}, {@link ChangeResult.Unchanged} if the policy kept it, or
     *     {@link ChangeResult.GaveUp}
     * @throws OptimisticLockException if the policy refuses
     * @throws dev.latchkey.LockConflictedException if somebody else holds its lock
     * @throws InterruptedException while pausing between attempts; nothing was written then
     */
    public ChangeResult<T> mergeDeletion(T base, MergePolicy policy) throws InterruptedException {
        return saving.merge(mapping.encode(base), Optional.empty(), policy);
    }

    BsonValue id(Object id) {
        return Mapping.idOf(commands.toBson(Filters.eq(Mapping.ID, id)));
    }

    /**
     * Says how a collection is versioned.
     *
     * @param <T> the documents
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
         * Says where the version is. It is {@code version}, an {@code INT}, unless set.
         *
         * @param field the name of a field of the root, as it is in the database
         * @param versionType of all versions in this collection
         * @return this builder
         */
        public Builder<T> version(String field, Version.Type versionType) {
            this.versionField = field;
            this.type = versionType;
            return this;
        }

        /**
         * Limits repetition. Changes are tried 200 times within 30 s unless set.
         *
         * @param maxAttempts 1 or more
         * @param maxWait no attempt begins after it; zero tries once
         * @return this builder
         */
        public Builder<T> retry(int maxAttempts, Duration maxWait) {
            this.retry = new Retry(maxAttempts, maxWait);
            return this;
        }

        /**
         * Says by how much the clocks of any two {@code mongos} of a sharded cluster may differ. Each decides by its own which
         * leases are over: a lock that is not released is then taken over that much later. Needed on a sharded cluster with
         * {@link DocumentLocks}, where two may hold one lock if the clocks differ by more; a collection does not tell
         * whether it is on one. On a replica set it covers how far the clocks of the members may differ, since after an election
         * the clock of another decides. The same for all who use the collection. Zero unless set.
         *
         * @param difference zero or more
         * @return this builder
         * @throws IllegalArgumentException if it is less than zero
         */
        public Builder<T> allowedClockSkew(Duration difference) {
            if (difference.isNegative()) {
                throw new IllegalArgumentException("an allowed clock skew of " + difference + " must not be negative");
            }
            this.allowedClockSkew = difference;
            return this;
        }

        /**
         * Makes the view of the collection. Sends nothing.
         *
         * @return the view
         * @throws IllegalArgumentException if the version field is no field of the root, or if the write concern of the
         *     collection has nothing acknowledged
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
