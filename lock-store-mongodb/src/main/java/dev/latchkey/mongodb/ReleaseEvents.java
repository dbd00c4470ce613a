package dev.latchkey.mongodb;

import java.util.List;
import java.util.stream.Stream;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;

/**
 * Which changes of a collection let others in: a hold was given up, a writer became a reader, a document went. The server
 * tells of a change by its difference, or, if that is no shorter, by the whole new document.
 */
final class ReleaseEvents {

    private static final String TYPE = "operationType";
    private static final String KEY = "documentKey";
    private static final BsonDocument IS_NULL = new BsonDocument("$type", new BsonString("null"));

    /** No secret of a document is sent. */
    static final List<BsonDocument> STAGES = List.of(
            new BsonDocument(
                    "$match",
                    either(
                                    became("updateDescription.updatedFields.", Fields.EXPIRES_AT),
                                    became("updateDescription.updatedFields.", Fields.TOKEN),
                                    became("fullDocument.", Fields.TOKEN),
                                    new BsonDocument(TYPE, new BsonString("delete")))
                            // A state index has no name to be told under, nor has what others keep here.
                            .append(KEY + "." + Fields.RESOURCE, new BsonDocument("$type", new BsonString("string")))),
            new BsonDocument("$project", new BsonDocument(TYPE, new BsonInt32(1)).append(KEY, new BsonInt32(1))));

    private ReleaseEvents() {}

    private static BsonDocument became(String in, String field) {
        return new BsonDocument(in + field, IS_NULL);
    }

    private static BsonDocument either(BsonDocument... any) {
        return new BsonDocument("$or", new BsonArray(Stream.of(any).toList()));
    }

    /** The name under which the document is, or was. */
    static String name(BsonDocument change) {
        return change.getDocument(KEY).getString(Fields.RESOURCE).getValue();
    }
}
