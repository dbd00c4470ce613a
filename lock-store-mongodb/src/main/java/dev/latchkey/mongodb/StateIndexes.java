package dev.latchkey.mongodb;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoBulkWriteException;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import dev.latchkey.spi.StateIndex;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;

/**
 * The state indexes of resources. Each is a document of its own, because it must stay when the lock has not been used for long.
 * Its {@code _id} is a document and that of a lock is text, so they never collide.
 */
final class StateIndexes {

    /** A command has at most 16 MB, and a name at most half a kilobyte. */
    private static final int MOST_AT_ONCE = 10_000;

    private final MongoCollection<BsonDocument> collection;
    private final DriverCalls calls;

    StateIndexes(MongoCollection<BsonDocument> collection, DriverCalls calls) {
        this.collection = collection;
        this.calls = calls;
    }

    Map<String, StateIndex> of(Collection<String> resources) {
        List<String> all = List.copyOf(new TreeSet<>(resources));
        Map<String, StateIndex> found = new HashMap<>();
        for (int start = 0; start < all.size(); start += MOST_AT_ONCE) {
            found.putAll(look(all.subList(start, Math.min(start + MOST_AT_ONCE, all.size()))));
        }
        return found;
    }

    private Map<String, StateIndex> look(List<String> resources) {
        Map<BsonDocument, String> ids = new HashMap<>();
        resources.forEach(resource -> ids.put(id(resource), resource));
        BsonDocument filter =
                new BsonDocument(Fields.RESOURCE, new BsonDocument("$in", new BsonArray(List.copyOf(ids.keySet()))));
        List<BsonDocument> documents = calls.repeated(
                resources.get(0),
                () -> collection
                        .find(filter)
                        .collation(LockCommands.BINARY)
                        // One more than there can be, so that the server sends all at once and keeps no cursor.
                        .batchSize(ids.size() + 1)
                        .into(new ArrayList<>()));
        Map<String, StateIndex> found = new HashMap<>();
        for (BsonDocument document : documents) {
            String resource = ids.getOrDefault(document.getDocument(Fields.RESOURCE), "");
            found.put(resource, index(resource, document));
        }
        return found;
    }

    private StateIndex index(String resource, BsonDocument document) {
        if (!DocumentFormat.isStateIndex(document)) {
            throw LockCommands.foreign(resource, collection);
        }
        return new StateIndex(
                document.getInt64(Fields.EXCLUSIVE).getValue(),
                document.getInt64(Fields.SHARED).getValue());
    }

    /** May be repeated, in any order. */
    void raise(Map<String, StateIndex> raised) {
        if (raised.isEmpty()) {
            return;
        }
        List<UpdateOneModel<BsonDocument>> updates = new ArrayList<>();
        raised.forEach((resource, index) -> updates.add(new UpdateOneModel<>(
                new BsonDocument(Fields.RESOURCE, id(resource)),
                raisedTo(index),
                new UpdateOptions().upsert(true).collation(LockCommands.BINARY))));
        String first = new TreeSet<>(raised.keySet()).first();
        boolean unused = calls.repeated(first, () -> write(updates));
    }

    private boolean write(List<UpdateOneModel<BsonDocument>> updates) {
        for (int collisions = 0; ; collisions++) {
            try {
                return collection
                        .bulkWrite(updates, new BulkWriteOptions().ordered(false))
                        .wasAcknowledged();
            } catch (MongoBulkWriteException e) {
                if (!isCollision(e) || collisions == LockCommands.COLLISIONS) {
                    throw e;
                }
            }
        }
    }

    /** Returns whether the only failure is a concurrent insert of the same document, which exists now. */
    private static boolean isCollision(MongoBulkWriteException e) {
        return e.getWriteConcernError() == null
                && e.getWriteErrors().stream().allMatch(error -> error.getCategory() == ErrorCategory.DUPLICATE_KEY);
    }

    private static BsonDocument raisedTo(StateIndex index) {
        return new BsonDocument(
                        "$max",
                        new BsonDocument(Fields.EXCLUSIVE, new BsonInt64(index.exclusive()))
                                .append(Fields.SHARED, new BsonInt64(index.shared())))
                .append("$setOnInsert", new BsonDocument(Fields.FORMAT, new BsonInt32(Fields.FORMAT_1)));
    }

    private static BsonDocument id(String resource) {
        return new BsonDocument(Fields.INDEX_OF, new BsonString(ResourceName.of(resource)));
    }
}
