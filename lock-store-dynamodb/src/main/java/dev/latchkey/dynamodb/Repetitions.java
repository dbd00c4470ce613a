package dev.latchkey.dynamodb;

import dev.latchkey.LockStorageException.Failure;
import software.amazon.awssdk.core.exception.SdkException;

/** What a client repeats by itself, which says what its last answer is worth. */
enum Repetitions {

    /** Only what had no effect, as the store's own client does. */
    WITHOUT_EFFECT,

    /** Whatever failed, as a client of the caller may: an earlier try may have taken effect. */
    OF_ANYTHING;

    /** Returns what is known after a failure that would mean a certain thing if it was the answer to the only try. */
    Failure after(SdkException e, Failure ofOnlyTry) {
        Integer tries = e.numAttempts();
        return this == WITHOUT_EFFECT || (tries != null && tries == 1) ? ofOnlyTry : Failure.IN_DOUBT;
    }
}
