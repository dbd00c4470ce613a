package dev.latchkey.spring;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/** The innermost lock that the current thread holds through {@link Locked} or a {@link LockTemplate}. */
public final class CurrentLock {

    private final HeldLock held;

    private CurrentLock(HeldLock held) {
        this.held = held;
    }

    /**
     * Returns the current lock, for code that always runs under one.
     *
     * @return the innermost lock of this thread
     * @throws IllegalStateException if this thread holds no lock
     */
    public static CurrentLock get() {
        return find().orElseThrow(() ->
                new IllegalStateException("this thread works under no lock: neither @Locked nor a"
                        + " LockTemplate has called what runs here, or it has passed the work to another thread"));
    }

    /**
     * Returns the current lock, for code that may run without one.
     *
     * @return the innermost lock of this thread; empty if it holds none
     */
    public static Optional<CurrentLock> find() {
        return Optional.ofNullable(HeldLocks.innermost()).map(CurrentLock::new);
    }

    /**
     * Returns the resource that is locked.
     *
     * @return the key with the prefix
     */
    public String resource() {
        return held.resource();
    }

    /**
     * Returns the mode of the lock.
     *
     * @return the mode that was requested
     */
    public LockMode mode() {
        return held.mode();
    }

    /**
     * Returns the fencing token of the hold.
     *
     * @return as {@link dev.latchkey.Lock#fencingToken()}
     */
    public OptionalLong fencingToken() {
        return held.fencingToken();
    }

    /**
     * Returns whether the lock is known to be lost, without asking the store. Loops can use it to stop at a safe point.
     *
     * @return as {@link dev.latchkey.Lock#isExpired()}
     */
    public boolean isLost() {
        return held.isLost();
    }

    /**
     * Returns the remaining lifetime of the lease.
     *
     * @return as {@link dev.latchkey.Lock#remainingLifetime()}
     */
    public Optional<Duration> remainingLifetime() {
        return held.remainingLifetime();
    }

    /**
     * Returns the key of the hold, for a guard such as {@code JdbcStore.guard}.
     *
     * @return a snapshot, which has to be kept secret
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
