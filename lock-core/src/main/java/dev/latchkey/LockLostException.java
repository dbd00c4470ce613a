package dev.latchkey;

/** The lock was held and is no longer, though this holder did not release it: another may hold it by now. */
public final class LockLostException extends LockException {

    private final LossReason reason;

    /**
     * Says which lock was lost, how that was found out, and why it was lost.
     *
     * @param resource what the lock protects
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
     * @return the reason as far as the store can tell
     */
    public LossReason reason() {
        return reason;
    }
}
