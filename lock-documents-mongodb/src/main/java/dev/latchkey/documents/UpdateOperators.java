package dev.latchkey.documents;

import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/** Checks the update operators of the application. */
final class UpdateOperators {

    private UpdateOperators() {}

    /** Refuses changes of fields that do not belong to the application. */
    static BsonDocument check(BsonDocument update, String... ownFields) {
        update.forEach((operator, fields) -> {
            if (!operator.startsWith("$") || !fields.isDocument()) {
                throw new IllegalArgumentException("\"" + operator
                        + "\" is no update operator: an update is made of those, as Updates makes them");
            }
            for (String path : changed(operator, fields.asDocument())) {
                for (String own : ownFields) {
                    checkLeavesAlone(path, own);
                }
                checkLeavesAlone(path, LockFields.LOCK);
                checkLeavesAlone(path, Markers.FIELD);
            }
        });
        return update;
    }

    /** The value of $rename is a field name; all other values are data. */
    private static List<String> changed(String operator, BsonDocument fields) {
        List<String> paths = new ArrayList<>(fields.keySet());
        if (operator.equals("$rename")) {
            fields.values().stream()
                    .filter(BsonValue::isString)
                    .map(target -> target.asString().getValue())
                    .forEach(paths::add);
        }
        return paths;
    }

    private static void checkLeavesAlone(String path, String own) {
        if (path.equals(own) || path.startsWith(own + ".")) {
            throw new IllegalArgumentException(
                    "the update must not change \"" + own + "\": that is done with each write");
        }
    }
}
