package dev.latchkey;

import org.jspecify.annotations.Nullable;

/**
 * The store failed, or did not answer. What an unanswered acquire may have taken is given back, or ends with its TTL.
 * {@link #failure()} tells whether the request may have taken effect, and whether trying again can help.
 */
public final class LockStorageException extends LockException {

    /** How far a request came. */
    public enum Failure {
        /** The store failed or did not answer: whether the request took effect is not known. */
        IN_DOUBT,
        /** The store was not reached, or no connection was free: nothing was sent. Trying again may help. */
        NOT_SENT,
        /** The store refused the credentials or the permission: nothing took effect, and trying again does not help. */
        DENIED
    }

    private final Failure failure;

    /**
     * Says which lock could not be worked on, and what failed, when the request may have taken effect.
     *
     * @param resource what the lock protects
     * @param problem what failed, where, and what would help; without token, password or address with credentials
     * @param cause the driver's own exception, or null when there is none
     */
    public LockStorageException(String resource, String problem, @Nullable Throwable cause) {
        this(resource, problem, cause, Failure.IN_DOUBT);
    }

    /**
     * Says which lock could not be worked on, what failed, and how far the request came.
     *
     * @param resource what the lock protects
     * @param problem what failed, where, and what would help; without token, password or address with credentials
     * @param cause the driver's own exception, or null when there is none
     * @param failure how far the request came
     */
    public LockStorageException(String resource, String problem, @Nullable Throwable cause, Failure failure) {
        super(resource, problem, cause);
        this.failure = failure;
    }

    /**
     * Returns how far the request came.
     *
     * @return {@link Failure#IN_DOUBT} unless the store knows better
     */
    public Failure failure() {
        return failure;
    }
}
