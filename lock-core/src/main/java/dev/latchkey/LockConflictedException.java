package dev.latchkey;

/**
 * Thrown when a lock was not acquired although nothing failed. {@link #reason()} says whether another attempt can
 * succeed.
 */
public final class LockConflictedException extends LockException {

    /** Why a lock was not acquired. */
    public enum Reason {
        /** Another key held it for the whole time that the caller was ready to wait. Another attempt can succeed. */
        HELD_BY_ANOTHER,
        /**
         * Another reader already waits for promotion, and therefore for this reader: release the shared hold first. An
         * attempt before that is refused at once.
         */
        PROMOTION_REFUSED,
        /** Another thread closed or released this Lock, transferred its key, or closed its factory, during the wait. */
        CLOSED_WHILE_WAITING,
        /**
         * Another thread used this Lock for the whole time that the caller was ready to wait; the store was not asked.
         */
        BUSY,
        /**
         * The lock was granted, but its TTL was over before the answer arrived, so it was given back. A longer TTL or a
         * faster store helps.
         */
        GRANTED_TOO_LATE
    }

    private final Reason reason;

    /**
     * Creates an exception for a lock that another key holds.
     *
     * @param resource the name of what the lock protects
     * @param problem why the lock was not acquired, for people, without any token
     */
    public LockConflictedException(String resource, String problem) {
        this(resource, problem, Reason.HELD_BY_ANOTHER);
    }

    /**
     * Creates an exception for a lock that was not acquired.
     *
     * @param resource the name of what the lock protects
     * @param problem why the lock was not acquired, for people, without any token
     * @param reason why the lock was not acquired, for programs
     */
    public LockConflictedException(String resource, String problem, Reason reason) {
        super(resource, problem, null);
        this.reason = reason;
    }

    /**
     * Returns why the lock was not acquired.
     *
     * @return the reason, which says whether another attempt can succeed
     */
    public Reason reason() {
        return reason;
    }
}
