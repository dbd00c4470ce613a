package dev.latchkey;

import org.jspecify.annotations.Nullable;

/**
 * The store failed, or did not answer. Whether the request took effect is not known, unless the message says so; what
 * an unanswered acquire may have taken is given back, or ends with its TTL.
 */
public final class LockStorageException extends LockException {

    /**
     * Says which lock could not be worked on, and what failed.
     *
     * @param resource what the lock protects
     * @param problem what failed, where, and what would help; without token, password or address with credentials
     * @param cause the driver's own exception, or null when there is none
     */
    public LockStorageException(String resource, String problem, @Nullable Throwable cause) {
        super(resource, problem, cause);
    }
}
