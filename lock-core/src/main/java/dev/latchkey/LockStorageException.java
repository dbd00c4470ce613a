package dev.latchkey;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the store failed or did not answer. Anything that an unanswered acquire may have acquired is given back, or
 * ends with its TTL. {@link #failure()} says whether the request may have taken effect, and whether another attempt can
 * succeed.
 */
public final class LockStorageException extends LockException {

    /** How far a request got. */
    public enum Failure {
        /** The store failed or did not answer: it is unknown whether the request took effect. */
        IN_DOUBT,
        /** The store was not reached, or no connection was free: nothing was sent. Another attempt can succeed. */
        NOT_SENT,
        /**
         * The store refused the credentials or the permission: nothing took effect, and another attempt will fail as
         * well.
         */
        DENIED
    }

    private final Failure failure;

    /**
     * Creates an exception for a request that may have taken effect.
     *
     * @param resource the name of what the lock protects
     * @param problem what failed, where, and what would help; without token, password or address with credentials
     * @param cause the exception of the driver, or null if there is none
     */
    public LockStorageException(String resource, String problem, @Nullable Throwable cause) {
        this(resource, problem, cause, Failure.IN_DOUBT);
    }

    /**
     * Creates an exception for a request that failed.
     *
     * @param resource the name of what the lock protects
     * @param problem what failed, where, and what would help; without token, password or address with credentials
     * @param cause the exception of the driver, or null if there is none
     * @param failure how far the request got
     */
    public LockStorageException(String resource, String problem, @Nullable Throwable cause, Failure failure) {
        super(resource, problem, cause);
        this.failure = failure;
    }

    /**
     * Returns how far the request got.
     *
     * @return {@link Failure#IN_DOUBT} unless the store knows more
     */
    public Failure failure() {
        return failure;
    }

    /** Whether a request that failed has had no effect, and never will: nothing was sent, or it was refused as it is. */
    static boolean isUndone(Throwable failure) {
        return failure instanceof IllegalArgumentException
                || (failure instanceof LockStorageException storage && storage.failure != Failure.IN_DOUBT);
    }
}
