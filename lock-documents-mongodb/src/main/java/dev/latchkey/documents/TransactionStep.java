package dev.latchkey.documents;

import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import org.bson.conversions.Bson;

/**
 * What a two-phase transaction does to one document. It is written down in the transaction, so that any process can go on
 * with it, or undo it.
 *
 * @param collection in the database of the transactions
 * @param id of the document
 * @param condition must fit the document at the moment of the change, else the transaction is canceled
 * @param change update operators
 * @param inverse update operators that undo the change, whatever others have changed in between: so {@code $inc} by the
 *     opposite amount rather than {@code $set} of the value before
 */
public record TransactionStep(String collection, Object id, Bson condition, Bson change, Bson inverse) {

    /**
     * Makes a step without a condition.
     *
     * @param collection in the database of the transactions
     * @param id of the document
     * @param change update operators
     * @param inverse update operators that undo the change
     * @return the step
     */
    public static TransactionStep of(String collection, Object id, Bson change, Bson inverse) {
        return new TransactionStep(collection, id, Filters.empty(), change, inverse);
    }

    /**
     * Makes a step that adds to a number.
     *
     * @param collection in the database of the transactions
     * @param id of the document
     * @param field the number
     * @param amount less than zero to take away
     * @return the step
     */
    public static TransactionStep increment(String collection, Object id, String field, long amount) {
        return of(collection, id, Updates.inc(field, amount), Updates.inc(field, Math.negateExact(amount)));
    }

    /**
     * Makes the same step under a condition.
     *
     * @param onlyIf must fit the document at the moment of the change
     * @return the step
     */
    public TransactionStep when(Bson onlyIf) {
        return new TransactionStep(collection, id, onlyIf, change, inverse);
    }

    /**
     * Makes the same step on a versioned document: whoever loaded it before, and saves it after, finds out.
     *
     * @param field the version, a number
     * @return the step, which raises the version with the change, and again with the inverse
     */
    public TransactionStep versioned(String field) {
        Bson raised = Updates.inc(field, 1);
        return new TransactionStep(
                collection, id, condition, Updates.combine(change, raised), Updates.combine(inverse, raised));
    }
}
