package dev.latchkey.documents;

import org.bson.BsonDocument;
import org.bson.BsonValue;

/** What the application may say in an update. */
final class Operators {

    private Operators() {}

    /** Refuses what would change what is not the application's to change. */
    static BsonDocument check(BsonDocument update, String... ownFields) {
        update.forEach((operator, fields) -> {
            if (!operator.startsWith("$") || !fields.isDocument()) {
                throw new IllegalArgumentException("\"" + operator
                        + "\" is no update operator: an update is made of those, as Updates makes them");
            }
            for (String own : ownFields) {
                checkLeavesAlone(fields.asDocument(), own);
            }
            checkLeavesAlone(fields.asDocument(), LockFields.LOCK);
            checkLeavesAlone(fields.asDocument(), Markers.FIELD);
        });
        return update;
    }

    private static void checkLeavesAlone(BsonDocument fields, String own) {
        for (String name : fields.keySet()) {
            BsonValue target = fields.get(name);
            boolean isRenamedTo =
                    target.isString() && target.asString().getValue().equals(own);
            if (name.equals(own) || name.startsWith(own + ".") || isRenamedTo) {
                throw new IllegalArgumentException(
                        "the update must not change \"" + own + "\": that is done with each write");
            }
        }
    }
}
