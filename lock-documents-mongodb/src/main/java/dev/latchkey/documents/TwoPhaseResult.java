package dev.latchkey.documents;

import org.bson.types.ObjectId;

/** The result of a two-phase transaction. */
public sealed interface TwoPhaseResult {

    /**
     * All documents were changed.
     *
     * @param id the id of the transaction
     */
    record Done(ObjectId id) implements TwoPhaseResult {}

    /**
     * No document is changed: changes that were made have been undone.
     *
     * @param id the id of the transaction
     * @param reason the reason, for people
     */
    record Canceled(ObjectId id, String reason) implements TwoPhaseResult {}
}
