package dev.latchkey.spring;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/** The innermost lock that the current thread works under, by {@link Locked} or by a {@link LockTemplate}. */
public final class CurrentLock {

    private final HeldLock held;

    private CurrentLock(HeldLock held) {
        this.held = held;
    }

    /**
     * Returns the lock of a method that is always called under one.
     *
     * @return the innermost
     * @throws IllegalStateException if this thread works under none
     */
    public static CurrentLock get() {
        return find().orElseThrow(() ->
                new IllegalStateException("this thread works under no lock: neither @Locked nor a"
                        + " LockTemplate has called what runs here, or it has passed the work to another thread"));
    }

    /**
     * Returns the lock of a method that may be called without one.
     *
     * @return the innermost; empty if this thread works under none
     */
    public static Optional<CurrentLock> find() {
        return Optional.ofNullable(HeldLocks.innermost()).map(CurrentLock::new);
    }

    /**
     * Returns what is locked.
     *
     * @return the key with the prefix
     */
    public String resource() {
        return held.resource();
    }

    /**
     * Returns whether it is shared.
     *
     * @return the mode that was asked for
     */
    public LockMode mode() {
        return held.mode();
    }

    /**
     * Returns the number of the hold, with which a resource can refuse holders that are over.
     *
     * @return as {@link dev.latchkey.Lock#fencingToken()}
     */
    public OptionalLong fencingToken() {
        return held.fencingToken();
    }

    /**
     * Tells, without asking the store, whether the lock is known to be lost: for a loop to stop at a safe point.
     *
     * @return as {@link dev.latchkey.Lock#isExpired()}
     */
    public boolean isLost() {
        return held.isLost();
    }

    /**
     * Returns what is left of the lease, which is renewed.
     *
     * @return as {@link dev.latchkey.Lock#remainingLifetime()}
     */
    public Optional<Duration> remainingLifetime() {
        return held.remainingLifetime();
    }

    /**
     * Returns the key for a guard, as {@code JdbcStore.guard}.
     *
     * @return a snapshot; a secret
     */
    public Key key() {
        return held.key();
    }

    /** Returns the resource and the mode. */
    @Override
    public String toString() {
        return "CurrentLock[" + resource() + ", " + mode() + "]";
    }
}
