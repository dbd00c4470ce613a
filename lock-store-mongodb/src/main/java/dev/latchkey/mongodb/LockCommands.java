package dev.latchkey.mongodb;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.model.Collation;
import com.mongodb.client.model.CreateIndexOptions;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.IndexModel;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.ReturnDocument;
import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/** The commands of the store. Each resource has one document. */
final class LockCommands {

    /** What a command does if the resource has no document. */
    enum Absent {
        INSERT,
        LEAVE
    }

    /** Whether a command is repeated after its connection broke, although the first copy may still arrive. */
    enum Repetition {
        ALLOWED,
        NEVER
    }

    /** Compares names exactly, whatever the collation of the collection is. */
    static final Collation BINARY = Collation.builder().locale("simple").build();

    private static final BsonDocument ONLY_NAME = new BsonDocument(Fields.RESOURCE, new BsonInt32(1));

    private static final BsonDocument WITH_CLOCK =
            new BsonDocument("$addFields", new BsonDocument(Fields.NOW, Expressions.NOW));

    /** How often concurrent inserts may conflict: after the first conflict the document exists. */
    static final int COLLISIONS = 5;

    private static final int INDEX_SECONDS = 5;

    private final MongoCollection<BsonDocument> collection;
    private final DriverCalls calls;

    LockCommands(MongoCollection<BsonDocument> collection, DriverCalls calls) {
        this.collection = collection;
        this.calls = calls;
    }

    /** The collection with the concerns that locks need, whatever its owner has set: a read returns what was written. */
    static MongoCollection<BsonDocument> of(MongoCollection<?> collection, WriteConcern writeConcern) {
        return collection
                .withDocumentClass(BsonDocument.class)
                .withCodecRegistry(MongoClientSettings.getDefaultCodecRegistry())
                .withReadPreference(ReadPreference.primary())
                .withReadConcern(isMajority(writeConcern) ? ReadConcern.MAJORITY : ReadConcern.LOCAL)
                .withWriteConcern(writeConcern);
    }

    private static boolean isMajority(WriteConcern writeConcern) {
        return Objects.equals(writeConcern.getWObject(), WriteConcern.MAJORITY.getWObject());
    }

    /**
     * Changes a document on the server if the rules allow it.
     *
     * @return the document as it is after that; empty if there is none
     */
    Optional<LockDocument> change(String resource, List<BsonDocument> stages, Absent absent, Repetition repetition) {
        FindOneAndUpdateOptions options = new FindOneAndUpdateOptions()
                .returnDocument(ReturnDocument.AFTER)
                .upsert(absent == Absent.INSERT)
                .collation(BINARY);
        BsonDocument filter = byName(resource);
        Supplier<@Nullable BsonDocument> call = () -> findAndUpdate(filter, stages, options);
        return Optional.ofNullable(
                        repetition == Repetition.ALLOWED ? calls.repeated(resource, call) : calls.once(resource, call))
                .map(document -> holding(resource, document));
    }

    private @Nullable BsonDocument findAndUpdate(
            BsonDocument filter, List<BsonDocument> stages, FindOneAndUpdateOptions options) {
        for (int collisions = 0; ; collisions++) {
            try {
                return collection.findOneAndUpdate(filter, stages, options);
            } catch (MongoException e) {
                if (!isDuplicate(e) || collisions == COLLISIONS) {
                    throw e;
                }
            }
        }
    }

    static boolean isDuplicate(MongoException e) {
        return ErrorCategory.fromErrorCode(e.getCode()) == ErrorCategory.DUPLICATE_KEY;
    }

    /**
     * Removes a key from the document on the server.
     *
     * @return whether it was in it
     */
    boolean release(Key key, List<BsonDocument> stages) {
        BsonString token = new BsonString(key.token());
        BsonDocument filter = byName(key.resource())
                .append(Fields.FORMAT, new BsonInt32(Fields.FORMAT_1))
                .append(
                        "$or",
                        new BsonArray(List.of(
                                new BsonDocument(Fields.TOKEN, token),
                                new BsonDocument(Fields.READERS + "." + Fields.TOKEN, token))));
        return isChanged(key.resource(), filter, stages);
    }

    /**
     * Removes the exclusive holder with a fencing token from the document on the server, if its lease is not over.
     *
     * @return whether it was in it
     */
    boolean end(String resource, long fencingToken, List<BsonDocument> stages) {
        BsonDocument filter = byName(resource)
                .append(Fields.FORMAT, new BsonInt32(Fields.FORMAT_1))
                .append(Fields.TOKEN, new BsonDocument("$ne", BsonNull.VALUE))
                .append(Fields.FENCING_TOKEN, new BsonInt64(fencingToken))
                .append("$expr", Conditions.isLive());
        return isChanged(resource, filter, stages);
    }

    /** Never repeated. An updateOne would use the driver's bulk writes, which cost the client more. */
    private boolean isChanged(String resource, BsonDocument filter, List<BsonDocument> stages) {
        var options = new FindOneAndUpdateOptions().projection(ONLY_NAME).collation(BINARY);
        return calls.once(resource, () -> collection.findOneAndUpdate(filter, stages, options) != null);
    }

    /** Reads a document together with the server's clock. */
    Optional<LockDocument> read(String resource) {
        List<BsonDocument> stages = List.of(new BsonDocument("$match", byName(resource)), WITH_CLOCK);
        return Optional.ofNullable(calls.repeated(
                        resource,
                        () -> collection.aggregate(stages).collation(BINARY).first()))
                .map(document -> holding(resource, document));
    }

    /** Reads documents whose last lease was not released, together with the server's clock, in the order of their names. */
    List<LockDocument> unreleased(BsonDocument names, int limit) {
        BsonDocument filter = new BsonDocument(Fields.RESOURCE, names)
                .append(Fields.EXPIRES_AT, new BsonDocument("$ne", BsonNull.VALUE));
        List<BsonDocument> stages = List.of(
                new BsonDocument("$match", filter),
                new BsonDocument("$sort", new BsonDocument(Fields.RESOURCE, new BsonInt32(1))),
                new BsonDocument("$limit", new BsonInt32(limit)),
                WITH_CLOCK);
        List<BsonDocument> found = calls.repeated(
                "",
                () -> collection
                        .aggregate(stages)
                        .collation(BINARY)
                        // One more than there can be, so that the server sends all at once and keeps no cursor.
                        .batchSize(limit + 1)
                        .into(new ArrayList<>()));
        return found.stream()
                .map(document -> holding(document.getString(Fields.RESOURCE).getValue(), document))
                .toList();
    }

    /** From 4.4 on, the server waits until all voting members have built the index, including members that are down. */
    void createIndex() {
        IndexModel index = new IndexModel(
                new BsonDocument(Fields.KEPT_UNTIL, new BsonInt32(1)),
                new IndexOptions().expireAfter(0L, TimeUnit.SECONDS));
        CreateIndexOptions options = new CreateIndexOptions().maxTime(INDEX_SECONDS, TimeUnit.SECONDS);
        calls.once("", () -> collection.createIndexes(List.of(index), options));
    }

    /** Opens a stream of the changes after which another key may be granted the lock. */
    MongoCursor<BsonDocument> releases(Duration maxAwait) {
        return collection
                // The server offers no other kind of stream.
                .withReadConcern(ReadConcern.MAJORITY)
                .watch(ReleaseEvents.STAGES)
                .maxAwaitTime(maxAwait.toMillis(), TimeUnit.MILLISECONDS)
                .withDocumentClass(BsonDocument.class)
                .cursor();
    }

    private LockDocument holding(String resource, BsonDocument document) {
        if (!DocumentFormat.isLock(document)) {
            throw foreign(resource, collection);
        }
        return new LockDocument(document);
    }

    static LockStorageException foreign(String resource, MongoCollection<?> collection) {
        return new LockStorageException(
                resource,
                "the collection " + collection.getNamespace().getFullName()
                        + " has a document of this _id that is not a lock of this format: give locks a collection of"
                        + " their own",
                null);
    }

    private static BsonDocument byName(String resource) {
        return new BsonDocument(Fields.RESOURCE, new BsonString(ResourceName.of(resource)));
    }
}
