package dev.latchkey;

import dev.latchkey.spi.Attempt;
import org.jspecify.annotations.Nullable;

/**
 * How the passing of a hold ended, for the one it was passed to.
 *
 * @param attempt what was granted; null: not known
 * @param problem why it is not known
 */
record Passed(@Nullable Attempt attempt, @Nullable Throwable problem) {

    /** The store has not answered the one who passed the hold. */
    static final class InDoubtException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        InDoubtException(@Nullable Throwable cause) {
            super(cause);
        }
    }

    Attempt get() {
        if (attempt == null) {
            throw new InDoubtException(problem);
        }
        return attempt;
    }
}
