package dev.latchkey;

/**
 * Thrown when the lock was held and is no longer, although this holder did not release it: another key may hold it by
 * now.
 */
public final class LockLostException extends LockException {

    private final LossReason reason;

    /**
     * Creates an exception for a lock that was lost.
     *
     * @param resource the name of what the lock protects
     * @param problem what was being done, for people, without any token
     * @param reason why the hold ended
     */
    public LockLostException(String resource, String problem, LossReason reason) {
        super(resource, problem + " (" + reason + ")", null);
        this.reason = reason;
    }

    /**
     * Returns why the hold ended.
     *
     * @return the reason, as far as the store can tell
     */
    public LossReason reason() {
        return reason;
    }
}
