package dev.latchkey.documents;

import com.mongodb.client.model.Filters;
import java.util.List;
import java.util.function.UnaryOperator;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.conversions.Bson;
import org.bson.json.JsonMode;
import org.bson.json.JsonWriterSettings;

/**
 * One step as it is stored. Operators are stored as text: servers before 5.0 refuse names with a dollar sign.
 *
 * @param marker of this step of this transaction, found in the document while the step is under way
 * @param worker who goes on with the transaction: what one has prepared, only that one may make
 */
record Participant(
        String collection,
        BsonValue id,
        String marker,
        String worker,
        BsonDocument condition,
        BsonDocument change,
        BsonDocument inverse) {

    private static final JsonWriterSettings EXACT =
            JsonWriterSettings.builder().outputMode(JsonMode.EXTENDED).build();

    static BsonDocument stored(TransactionStep step, UnaryOperator<Bson> toBson) {
        BsonDocument id = toBson.apply(Filters.eq(Mapping.ID, step.id())).toBsonDocument();
        BsonDocument change = operators(toBson.apply(step.change()).toBsonDocument());
        BsonDocument inverse = operators(toBson.apply(step.inverse()).toBsonDocument());
        return new BsonDocument("collection", new BsonString(step.collection()))
                .append("id", Mapping.idOf(id))
                .append("condition", text(toBson.apply(step.condition()).toBsonDocument()))
                .append("change", text(change))
                .append("inverse", text(inverse));
    }

    /** The filter of such an update contains lists of marks, from which a positional operator would take its index. */
    private static BsonDocument operators(BsonDocument update) {
        UpdateOperators.check(update)
                .values()
                .forEach(fields -> fields.asDocument().keySet().forEach(Participant::refusePositional));
        return update;
    }

    private static void refusePositional(String path) {
        if (List.of(path.split("\\.", -1)).contains("$")) {
            throw new IllegalArgumentException("\"" + path
                    + "\" has the positional operator $, which has no meaning in a two-phase transaction: name the element"
                    + " by its index, or change all by $[]");
        }
    }

    private static BsonString text(BsonDocument part) {
        return new BsonString(part.toJson(EXACT));
    }

    static Participant read(BsonDocument stored, String marker, String worker) {
        return new Participant(
                stored.getString("collection").getValue(),
                Mapping.idOf(new BsonDocument(Mapping.ID, stored.get("id"))),
                marker,
                worker,
                parsed(stored, "condition"),
                parsed(stored, "change"),
                parsed(stored, "inverse"));
    }

    private static BsonDocument parsed(BsonDocument stored, String name) {
        return BsonDocument.parse(stored.getString(name).getValue());
    }
}
