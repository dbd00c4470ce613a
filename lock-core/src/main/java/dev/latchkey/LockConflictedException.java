package dev.latchkey;

/** Another key held the lock for as long as the caller was ready to wait. */
public final class LockConflictedException extends LockException {

    /**
     * Says which lock was not had, and why the waiting ended.
     *
     * @param resource what the lock protects
     * @param problem why, for people, without any token
     */
    public LockConflictedException(String resource, String problem) {
        super(resource, problem, null);
    }
}
