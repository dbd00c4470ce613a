package dev.latchkey.mongodb;

import java.util.Optional;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonType;
import org.bson.BsonUndefined;
import org.bson.BsonValue;

/** Checks that a document has the {@link Fields} of a lock, because people and other programs may write to the collection. */
final class DocumentFormat {

    private DocumentFormat() {}

    static boolean isLock(BsonDocument document) {
        return isOurs(document)
                && isNullOr(BsonType.DATE_TIME, document, Fields.EXPIRES_AT)
                && isNullOr(BsonType.DATE_TIME, document, Fields.KEPT_UNTIL)
                && isNullOr(BsonType.INT64, document, Fields.FENCING_TOKEN)
                && isNullOr(BsonType.STRING, document, Fields.TOKEN)
                && (type(document, Fields.TOKEN) == BsonType.NULL || isWriter(document))
                && type(document, Fields.READERS) == BsonType.ARRAY
                && document.getArray(Fields.READERS).stream().allMatch(DocumentFormat::isReader)
                && isPromoter(document.get(Fields.PROMOTER, new BsonUndefined()));
    }

    static boolean isStateIndex(BsonDocument document) {
        return isOurs(document)
                && type(document, Fields.EXCLUSIVE) == BsonType.INT64
                && type(document, Fields.SHARED) == BsonType.INT64;
    }

    private static boolean isOurs(BsonDocument document) {
        return new BsonInt32(Fields.FORMAT_1).equals(document.get(Fields.FORMAT));
    }

    private static boolean isWriter(BsonDocument document) {
        return isHold(document)
                && type(document, Fields.FENCING_TOKEN) == BsonType.INT64
                && type(document, Fields.RENEWED_AT) == BsonType.DATE_TIME;
    }

    private static boolean isReader(BsonValue reader) {
        return reader.isDocument() && isHold(reader.asDocument());
    }

    private static boolean isHold(BsonDocument hold) {
        return type(hold, Fields.TOKEN) == BsonType.STRING
                && type(hold, Fields.REQUEST) == BsonType.INT64
                && type(hold, Fields.HOLDER) == BsonType.STRING
                && type(hold, Fields.EXPIRES_AT) == BsonType.DATE_TIME;
    }

    private static boolean isPromoter(BsonValue promoter) {
        if (!promoter.isDocument()) {
            return promoter.isNull();
        }
        BsonDocument mark = promoter.asDocument();
        return type(mark, Fields.TOKEN) == BsonType.STRING
                && type(mark, Fields.REQUEST) == BsonType.INT64
                && type(mark, Fields.UNTIL) == BsonType.DATE_TIME;
    }

    private static boolean isNullOr(BsonType expected, BsonDocument document, String field) {
        BsonType type = type(document, field);
        return type == BsonType.NULL || type == expected;
    }

    /** A missing field has none of the types. */
    private static BsonType type(BsonDocument document, String field) {
        return Optional.ofNullable(document.get(field))
                .map(BsonValue::getBsonType)
                .orElse(BsonType.UNDEFINED);
    }
}
