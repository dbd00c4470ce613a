package dev.latchkey.mongodb;

import java.util.List;
import java.util.stream.Stream;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;

/**
 * The changes of a collection after which a waiter may be granted the lock: a release, a demotion, or the deletion of a document.
 * The server reports a change as a difference or, if that is not shorter, as the whole new document.
 */
final class ReleaseEvents {

    private static final String TYPE = "operationType";
    private static final String KEY = "documentKey";
    private static final BsonDocument IS_NULL = new BsonDocument("$type", new BsonString("null"));

    /** The fields that the server sends, none of which is secret. */
    static final List<BsonDocument> STAGES = List.of(
            new BsonDocument(
                    "$match",
                    either(
                                    became("updateDescription.updatedFields.", Fields.EXPIRES_AT),
                                    became("updateDescription.updatedFields.", Fields.TOKEN),
                                    became("fullDocument.", Fields.TOKEN),
                                    new BsonDocument(TYPE, new BsonString("delete")))
                            // State indexes and documents of other programs have no resource.
                            .append(KEY + "." + Fields.RESOURCE, new BsonDocument("$type", new BsonString("string")))),
            new BsonDocument("$project", new BsonDocument(TYPE, new BsonInt32(1)).append(KEY, new BsonInt32(1))));

    private ReleaseEvents() {}

    private static BsonDocument became(String in, String field) {
        return new BsonDocument(in + field, IS_NULL);
    }

    private static BsonDocument either(BsonDocument... any) {
        return new BsonDocument("$or", new BsonArray(Stream.of(any).toList()));
    }

    /** Returns the resource of the document. */
    static String name(BsonDocument change) {
        return change.getDocument(KEY).getString(Fields.RESOURCE).getValue();
    }
}
