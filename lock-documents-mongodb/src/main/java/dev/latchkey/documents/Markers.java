package dev.latchkey.documents;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.client.model.Filters;
import java.util.Optional;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.conversions.Bson;

/**
 * What two-phase transactions do in the documents themselves. A step leaves a mark: first that it is prepared, then, in the
 * same write as its change, that it is applied. Both are taken away in the end.
 */
final class Markers {

    static final String FIELD = "_transactions";
    private static final String PREPARED = FIELD + ".prepared";
    private static final String APPLIED = FIELD + ".applied";

    /** What became of a change. */
    sealed interface Application {

        /** It is made, now or before. */
        record Made() implements Application {}

        /** It cannot be made. */
        record Refused(String why) implements Application {}

        /** The mark is gone: somebody else has ended the transaction. */
        record Overtaken() implements Application {}
    }

    private Markers() {}

    /** Tells whether the document is there. */
    static boolean prepare(Commands commands, Participant one) {
        Bson notApplied = Filters.and(byId(one), Filters.ne(APPLIED, one.marker()));
        return commands.change(notApplied, with(new BsonDocument(), "$addToSet", PREPARED, one))
                        .isPresent()
                || commands.find(byId(one)).isPresent();
    }

    /** Changes the document if that is prepared: never twice, and never after the marks were taken away. */
    static Application apply(Commands commands, Participant one) {
        Bson ready = Filters.and(byId(one), Filters.eq(PREPARED, one.marker()), one.condition());
        BsonDocument update = with(with(one.change(), "$pull", PREPARED, one), "$addToSet", APPLIED, one);
        try {
            return commands.change(ready, update).isPresent() ? new Application.Made() : notApplied(commands, one);
        } catch (MongoCommandException e) {
            if (e.hasErrorLabel("RetryableWriteError")
                    || e.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL)) {
                throw e;
            }
            return new Application.Refused(name(commands, one) + " refuses the change: error " + e.getErrorCode());
        }
    }

    private static Application notApplied(Commands commands, Participant one) {
        Optional<BsonDocument> current = commands.find(byId(one));
        if (current.isEmpty()) {
            return new Application.Refused(name(commands, one) + " does not exist");
        }
        if (has(current.get(), "applied", one)) {
            return new Application.Made();
        }
        return has(current.get(), "prepared", one)
                ? new Application.Refused(name(commands, one) + " does not meet the condition")
                : new Application.Overtaken();
    }

    private static boolean has(BsonDocument document, String list, Participant one) {
        BsonDocument marks = document.getDocument(FIELD, new BsonDocument());
        return marks.getArray(list, new BsonArray()).contains(new BsonString(one.marker()));
    }

    /** First takes away what a late change would need, then undoes one that was made before. */
    static void undo(Commands commands, Participant one) {
        unprepare(commands, one);
        Bson applied = Filters.and(byId(one), Filters.eq(APPLIED, one.marker()));
        commands.change(applied, with(one.inverse(), "$pull", APPLIED, one));
    }

    static void unprepare(Commands commands, Participant one) {
        Bson prepared = Filters.and(byId(one), Filters.eq(PREPARED, one.marker()));
        commands.change(prepared, with(new BsonDocument(), "$pull", PREPARED, one));
    }

    static void clear(Commands commands, Participant one) {
        BsonDocument update = with(with(new BsonDocument(), "$pull", PREPARED, one), "$pull", APPLIED, one);
        Bson marked = Filters.or(Filters.eq(PREPARED, one.marker()), Filters.eq(APPLIED, one.marker()));
        commands.change(Filters.and(byId(one), marked), update);
    }

    private static Bson byId(Participant one) {
        return Filters.eq(Mapping.ID, one.id());
    }

    static String name(Commands commands, Participant one) {
        return Mapping.name(commands.namespace(), one.id());
    }

    private static BsonDocument with(BsonDocument update, String operator, String field, Participant one) {
        BsonDocument changed = update.clone();
        BsonDocument fields = changed.getDocument(operator, new BsonDocument()).clone();
        BsonValue marker = new BsonString(one.marker());
        fields.put(field, marker);
        changed.put(operator, fields);
        return changed;
    }
}
