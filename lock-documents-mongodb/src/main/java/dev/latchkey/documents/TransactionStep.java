package dev.latchkey.documents;

import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import org.bson.conversions.Bson;

/**
 * What a two-phase transaction does to one document. The step is stored in the transaction, so that any process can
 * continue or undo it.
 *
 * @param collection a collection in the database of the transactions
 * @param id the id of the document
 * @param condition must match the document at the moment of the change; otherwise the transaction is cancelled
 * @param change update operators
 * @param inverse update operators that undo the change, whatever others have changed in between: for example {@code $inc}
 *     by the opposite amount, and not {@code $set} of the previous value
 */
public record TransactionStep(String collection, Object id, Bson condition, Bson change, Bson inverse) {

    /**
     * Returns a step without a condition.
     *
     * @param collection a collection in the database of the transactions
     * @param id the id of the document
     * @param change update operators
     * @param inverse update operators that undo the change
     * @return the step
     */
    public static TransactionStep of(String collection, Object id, Bson change, Bson inverse) {
        return new TransactionStep(collection, id, Filters.empty(), change, inverse);
    }

    /**
     * Returns a step that adds to a number.
     *
     * @param collection a collection in the database of the transactions
     * @param id the id of the document
     * @param field the field of the number
     * @param amount the amount; negative to subtract
     * @return the step
     */
    public static TransactionStep increment(String collection, Object id, String field, long amount) {
        return of(collection, id, Updates.inc(field, amount), Updates.inc(field, Math.negateExact(amount)));
    }

    /**
     * Returns the same step with a condition.
     *
     * @param onlyIf must match the document at the moment of the change
     * @return the step
     */
    public TransactionStep when(Bson onlyIf) {
        return new TransactionStep(collection, id, onlyIf, change, inverse);
    }

    /**
     * Returns the same step for a versioned document, so that a writer that loaded the document before and saves it
     * afterwards is refused.
     *
     * @param field the field of the version, which is a number
     * @return the step, which increments the version with the change, and again with the inverse
     */
    public TransactionStep versioned(String field) {
        Bson raised = Updates.inc(field, 1);
        return new TransactionStep(
                collection, id, condition, Updates.combine(change, raised), Updates.combine(inverse, raised));
    }
}
