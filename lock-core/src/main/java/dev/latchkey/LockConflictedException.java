package dev.latchkey;

/** The lock was not had, and no failure is to blame: {@link #reason()} tells whether trying again can help. */
public final class LockConflictedException extends LockException {

    /** Why a lock was not had. */
    public enum Reason {
        /** Another key held it for as long as the caller was ready to wait. Trying again may help. */
        HELD_BY_ANOTHER,
        /**
         * Another reader already waits to be promoted, and waits for this one: let go of the shared hold first. Trying again
         * before that is refused at once.
         */
        PROMOTION_REFUSED,
        /** Another thread closed or released this Lock, or closed its factory, while this one waited. */
        CLOSED_WHILE_WAITING,
        /** Another thread used this Lock for as long as the caller was ready to wait; the store was not asked. */
        BUSY,
        /**
         * It was granted, but its TTL was over before the answer came, so it was given back. A longer TTL helps, or a store that
         * answers sooner.
         */
        GRANTED_TOO_LATE
    }

    private final Reason reason;

    /**
     * Says which lock another key holds.
     *
     * @param resource what the lock protects
     * @param problem why it was not had, for people, without any token
     */
    public LockConflictedException(String resource, String problem) {
        this(resource, problem, Reason.HELD_BY_ANOTHER);
    }

    /**
     * Says which lock was not had, and why.
     *
     * @param resource what the lock protects
     * @param problem why, for people, without any token
     * @param reason why, for programs
     */
    public LockConflictedException(String resource, String problem, Reason reason) {
        super(resource, problem, null);
        this.reason = reason;
    }

    /**
     * Returns why the lock was not had.
     *
     * @return the reason, which tells whether trying again can help
     */
    public Reason reason() {
        return reason;
    }
}
