package dev.latchkey;

import dev.latchkey.LockStorageException.Failure;

/** What a failure of the store leaves of the request that failed. */
final class Failures {

    private Failures() {}

    /** Whether the request has had no effect, and never will: nothing was sent, or it was refused as it is. */
    static boolean isUndone(Throwable failure) {
        return failure instanceof IllegalArgumentException
                || (failure instanceof LockStorageException storage && storage.failure() != Failure.IN_DOUBT);
    }
}
