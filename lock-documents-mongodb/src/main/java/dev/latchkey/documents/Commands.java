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

/** The commands sent for one collection, within a session where there is one. Reads on the primary: others lag behind. */
final class Commands {

    private static final FindOneAndUpdateOptions AFTER =
            new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER);
    private static final FindOneAndUpdateOptions AFTER_OR_INSERT =
            new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER).upsert(true);

    private static final WriteConcern DURABLE =
            WriteConcern.MAJORITY.withJournal(true).withWTimeout(5, TimeUnit.SECONDS);

    /**
     * HostUnreachable, HostNotFound, NetworkTimeout, ShutdownInProgress, PrimarySteppedDown, ExceededTimeLimit, SocketException,
     * InterruptedAtShutdown, Interrupted, InterruptedDueToReplStateChange: a router's who lost its shard, or of an operation
     * that was ended.
     */
    private static final Set<Integer> UNTOLD = Set.of(6, 7, 89, 91, 189, 262, 9_001, 11_600, 11_601, 11_602);

    /** How often two who insert at once may get into each other's way: after the first time the document is there. */
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

    /** What a failover must not undo, and that is neither waited for without end nor believed before a majority has it. */
    Commands durable() {
        return new Commands(collection.withWriteConcern(DURABLE).withReadConcern(ReadConcern.MAJORITY), session);
    }

    /** Whether nothing can have been done. The driver tells of the first attempt if it made two. */
    static boolean isNotSent(MongoException failure) {
        return failure instanceof MongoSocketOpenException
                || (failure instanceof MongoTimeoutException && !(failure instanceof MongoOperationTimeoutException));
    }

    /**
     * Whether what the server said leaves open what it did, as while a primary steps down. The labels alone do not tell: only
     * what the driver would repeat itself has them, so not without its {@code retryWrites}, nor on a standalone server.
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

    /** Reads one document as an expression makes it, which knows the server's clock. */
    Optional<BsonDocument> find(Bson filter, BsonDocument stage) {
        List<Bson> stages = List.of(Aggregates.match(filter), stage);
        AggregateIterable<BsonDocument> found =
                session == null ? collection.aggregate(stages) : collection.aggregate(session, stages);
        return Optional.ofNullable(found.first());
    }

    /** Only where no session is: recovery has none. */
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

    /** Changes one document, and returns it as it is then; empty if the filter fits none. */
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

    /** As {@link #change}, but makes the document if there is none. Not in a session, which a collision would end. */
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
