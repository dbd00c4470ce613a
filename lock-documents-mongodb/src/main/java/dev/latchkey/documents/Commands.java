package dev.latchkey.documents;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoNamespace;
import com.mongodb.MongoNodeIsRecoveringException;
import com.mongodb.MongoNotPrimaryException;
import com.mongodb.MongoOperationTimeoutException;
import com.mongodb.MongoSocketOpenException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.AggregateIterable;
import com.mongodb.client.ClientSession;
import com.mongodb.client.FindIterable;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.Projections;
import com.mongodb.client.model.ReturnDocument;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.codecs.configuration.CodecRegistries;
import org.bson.codecs.configuration.CodecRegistry;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/** The commands for one collection, in a session if there is one. Reads go to the primary, because secondaries lag behind. */
final class Commands {

    private static final FindOneAndUpdateOptions AFTER =
            new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER);
    private static final FindOneAndUpdateOptions AFTER_OR_INSERT =
            new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER).upsert(true);

    private static final WriteConcern DURABLE =
            WriteConcern.MAJORITY.withJournal(true).withWTimeout(5, TimeUnit.SECONDS);

    /**
     * HostUnreachable, HostNotFound, NetworkTimeout, ShutdownInProgress, PrimarySteppedDown, ExceededTimeLimit, SocketException,
     * InterruptedAtShutdown, Interrupted, InterruptedDueToReplStateChange: from a router that lost its shard, or of an operation
     * that was ended.
     */
    private static final Set<Integer> UNTOLD = Set.of(6, 7, 89, 91, 189, 262, 9_001, 11_600, 11_601, 11_602);

    /** How often concurrent inserts may conflict: after the first conflict the document exists. */
    private static final int COLLISIONS = 5;

    private final MongoCollection<BsonDocument> collection;
    private final @Nullable ClientSession session;

    private Commands(MongoCollection<BsonDocument> collection, @Nullable ClientSession session) {
        this.collection = collection;
        this.session = session;
    }

    static Commands of(MongoCollection<?> collection) {
        CodecRegistry registry = CodecRegistries.fromRegistries(
                collection.getCodecRegistry(), MongoClientSettings.getDefaultCodecRegistry());
        return new Commands(
                collection
                        .withDocumentClass(BsonDocument.class)
                        .withCodecRegistry(registry)
                        .withReadPreference(ReadPreference.primary()),
                null);
    }

    Commands in(ClientSession unit) {
        return new Commands(collection, unit);
    }

    /** A write that a failover does not undo: acknowledged by a majority, within a time limit. */
    Commands durable() {
        return new Commands(collection.withWriteConcern(DURABLE).withReadConcern(ReadConcern.MAJORITY), session);
    }

    /** Returns whether the command certainly had no effect. The driver reports its first attempt if it made two. */
    static boolean isNotSent(MongoException failure) {
        return failure instanceof MongoSocketOpenException
                || (failure instanceof MongoTimeoutException && !(failure instanceof MongoOperationTimeoutException));
    }

    /**
     * Returns whether the error leaves the outcome open, for example while a primary steps down. The labels are not enough: only
     * commands that the driver would repeat have them, so not without {@code retryWrites} and not on a standalone server.
     */
    static boolean isInDoubt(MongoCommandException failure) {
        return failure instanceof MongoNotPrimaryException
                || failure instanceof MongoNodeIsRecoveringException
                || UNTOLD.contains(failure.getErrorCode())
                || failure.hasErrorLabel("RetryableWriteError")
                || failure.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL);
    }

    boolean isInSession() {
        return session != null;
    }

    MongoNamespace namespace() {
        return collection.getNamespace();
    }

    BsonDocument toBson(Bson part) {
        return part.toBsonDocument(BsonDocument.class, collection.getCodecRegistry());
    }

    Optional<BsonDocument> find(Bson filter) {
        FindIterable<BsonDocument> found = session == null ? collection.find(filter) : collection.find(session, filter);
        return Optional.ofNullable(found.first());
    }

    /** Reads one document through an expression, which can use the server's clock. */
    Optional<BsonDocument> find(Bson filter, BsonDocument stage) {
        List<Bson> stages = List.of(Aggregates.match(filter), stage);
        AggregateIterable<BsonDocument> found =
                session == null ? collection.aggregate(stages) : collection.aggregate(session, stages);
        return Optional.ofNullable(found.first());
    }

    /** Only without a session: recovery has none. */
    List<BsonValue> ids(Bson filter) {
        return collection
                .find(filter)
                .projection(Projections.include(Mapping.ID))
                .map(document -> document.get(Mapping.ID))
                .into(new ArrayList<>());
    }

    void insert(BsonDocument document) {
        if (session == null) {
            collection.insertOne(document);
        } else {
            collection.insertOne(session, document);
        }
    }

    /** Changes one document, and returns its new state; empty if none matches the filter. */
    Optional<BsonDocument> change(Bson filter, Bson update) {
        return Optional.ofNullable(
                session == null
                        ? collection.findOneAndUpdate(filter, update, AFTER)
                        : collection.findOneAndUpdate(session, filter, update, AFTER));
    }

    Optional<BsonDocument> change(Bson filter, List<? extends Bson> stages) {
        return Optional.ofNullable(
                session == null
                        ? collection.findOneAndUpdate(filter, stages, AFTER)
                        : collection.findOneAndUpdate(session, filter, stages, AFTER));
    }

    /** Like {@link #change}, but creates a missing document. Not in a session, which a conflict would end. */
    Optional<BsonDocument> changeOrInsert(Bson filter, List<? extends Bson> stages) {
        for (int collisions = 0; ; collisions++) {
            try {
                return Optional.ofNullable(collection.findOneAndUpdate(filter, stages, AFTER_OR_INSERT));
            } catch (MongoCommandException e) {
                boolean isCollision = ErrorCategory.fromErrorCode(e.getErrorCode()) == ErrorCategory.DUPLICATE_KEY;
                if (!isCollision || collisions == COLLISIONS) {
                    throw e;
                }
            }
        }
    }

    boolean delete(Bson filter) {
        return (session == null ? collection.deleteOne(filter) : collection.deleteOne(session, filter))
                        .getDeletedCount()
                > 0;
    }
}
