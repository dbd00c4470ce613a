package dev.latchkey.documents;

import com.mongodb.MongoCommandException;
import com.mongodb.client.model.Filters;
import java.util.Optional;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.conversions.Bson;

/**
 * The marks of two-phase transactions in the documents themselves. A step first leaves a mark that a worker has prepared it and
 * then, in the same write as its change, a mark that it is applied. The first mark belongs to that worker, so that no other
 * worker can set it for a late one. The worker that ends the step removes the marks of all workers.
 */
final class Markers {

    static final String FIELD = "_transactions";
    private static final String PREPARED = FIELD + ".prepared";
    private static final String APPLIED = FIELD + ".applied";
    private static final String STEP = "step";

    /** The result of a change. */
    sealed interface Application {

        /** It was made, now or before. */
        record Made() implements Application {}

        /** It cannot be made. */
        record Refused(String why) implements Application {}

        /** The mark is gone: somebody else has ended the transaction. */
        record Overtaken() implements Application {}
    }

    private Markers() {}

    /** Returns whether the document exists. */
    static boolean prepare(Commands commands, Participant one) {
        Bson notApplied = Filters.and(byId(one), Filters.ne(APPLIED, one.marker()));
        return commands.change(notApplied, with(new BsonDocument(), "$addToSet", PREPARED, ofWorker(one)))
                        .isPresent()
                || commands.find(byId(one)).isPresent();
    }

    /** Changes the document if it is prepared: never twice, and never after the marks were removed. */
    static Application apply(Commands commands, Participant one) {
        Bson ready = Filters.and(byId(one), Filters.eq(PREPARED, ofWorker(one)), one.condition());
        BsonDocument update = with(unprepared(one.change(), one), "$addToSet", APPLIED, marker(one));
        try {
            return commands.change(ready, update).isPresent() ? new Application.Made() : notApplied(commands, one);
        } catch (MongoCommandException e) {
            if (Commands.isInDoubt(e)) {
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
        if (has(current.get(), "applied", marker(one))) {
            return new Application.Made();
        }
        return has(current.get(), "prepared", ofWorker(one))
                ? new Application.Refused(name(commands, one) + " does not meet the condition")
                : new Application.Overtaken();
    }

    private static boolean has(BsonDocument document, String list, BsonValue mark) {
        BsonDocument marks = document.getDocument(FIELD, new BsonDocument());
        return marks.getArray(list, new BsonArray()).contains(mark);
    }

    /** First removes the marks that a late change would need, and then undoes a change that was made before. */
    static void undo(Commands commands, Participant one) {
        unprepare(commands, one);
        Bson applied = Filters.and(byId(one), Filters.eq(APPLIED, one.marker()));
        commands.change(applied, with(one.inverse(), "$pull", APPLIED, marker(one)));
    }

    static void unprepare(Commands commands, Participant one) {
        Bson prepared = Filters.and(byId(one), Filters.eq(PREPARED + "." + STEP, one.marker()));
        commands.change(prepared, unprepared(new BsonDocument(), one));
    }

    static void clear(Commands commands, Participant one) {
        BsonDocument update = with(unprepared(new BsonDocument(), one), "$pull", APPLIED, marker(one));
        Bson marked = Filters.or(Filters.eq(PREPARED + "." + STEP, one.marker()), Filters.eq(APPLIED, one.marker()));
        commands.change(Filters.and(byId(one), marked), update);
    }

    private static Bson byId(Participant one) {
        return Filters.eq(Mapping.ID, one.id());
    }

    static String name(Commands commands, Participant one) {
        return Mapping.name(commands.namespace(), one.id());
    }

    private static BsonString marker(Participant one) {
        return new BsonString(one.marker());
    }

    private static BsonDocument ofWorker(Participant one) {
        return new BsonDocument(STEP, marker(one)).append("worker", new BsonString(one.worker()));
    }

    /** Matches whichever worker has prepared the step. */
    private static BsonDocument unprepared(BsonDocument update, Participant one) {
        return with(update, "$pull", PREPARED, new BsonDocument(STEP, marker(one)));
    }

    private static BsonDocument with(BsonDocument update, String operator, String field, BsonValue value) {
        BsonDocument changed = update.clone();
        BsonDocument fields = changed.getDocument(operator, new BsonDocument()).clone();
        fields.put(field, value);
        changed.put(operator, fields);
        return changed;
    }
}
