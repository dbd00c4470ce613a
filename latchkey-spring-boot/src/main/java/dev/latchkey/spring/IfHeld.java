package dev.latchkey.spring;

/** What a call does if another holds its lock. */
public enum IfHeld {
    /**
     * Waits, as long as it takes or for the {@linkplain Locked#maxWait max wait}, after which the call fails with
     * {@link dev.latchkey.LockConflictedException}.
     */
    WAIT,
    /**
     * Does not run the method, after the {@linkplain Locked#maxWait max wait} if there is one, and returns null, an empty
     * {@link java.util.Optional}, a stage completed with null, or an empty {@code Mono} or {@code Flux}.
     */
    SKIP,
    /** Fails at once with {@link dev.latchkey.LockConflictedException}. */
    FAIL
}
