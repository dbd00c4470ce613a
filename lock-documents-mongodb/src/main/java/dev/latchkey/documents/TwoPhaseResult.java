package dev.latchkey.documents;

import org.bson.types.ObjectId;

/** How a two-phase transaction ended. */
public sealed interface TwoPhaseResult {

    /**
     * All documents were changed.
     *
     * @param id of the transaction
     */
    record Done(ObjectId id) implements TwoPhaseResult {}

    /**
     * No document is changed: what was has been undone.
     *
     * @param id of the transaction
     * @param reason for people
     */
    record Canceled(ObjectId id, String reason) implements TwoPhaseResult {}
}
