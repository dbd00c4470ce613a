package dev.latchkey.spring;

/** What a call does if another holder has the lock. */
public enum IfHeld {
    /**
     * Waits without a limit, or until the {@linkplain Locked#maxWait max wait} is over; the call then fails with
     * {@link dev.latchkey.LockConflictedException}.
     */
    WAIT,
    /**
     * Skips the method, after the {@linkplain Locked#maxWait max wait} if one is set. The call returns null, an empty
     * {@link java.util.Optional}, a stage that is completed with null, or an empty {@code Mono} or {@code Flux}.
     */
    SKIP,
    /**
     * Fails with {@link dev.latchkey.LockConflictedException}: at once, or after the {@linkplain Locked#maxWait max wait}
     * if one is set.
     */
    FAIL
}
