package dev.latchkey.testkit;

import java.time.Duration;

/**
 * What the contracts with second processes need to know besides {@link StoreContract}; has no tests of its own. A store
 * that no other process can reach joins {@link SingleProcessContract} instead.
 */
public interface ProcessesContract extends StoreContract {

    /**
     * Returns what another process opens to meet {@link StoreContract#store()}.
     *
     * @return for {@link dev.latchkey.LockFactory#connect(String)}
     */
    String dsn();

    /**
     * Returns the TTL of locks whose holder is going to be killed: long enough for a working process not to lose its lock
     * on a busy machine, and short enough to wait for.
     *
     * @return 6 s on an idle machine unless overridden; without meaning for stores whose holds end with the process
     */
    default Duration crashTtl() {
        // Of whole seconds, which is all that some stores count.
        return Duration.ofSeconds(TimeLimits.ttl(Duration.ofSeconds(3)).toSeconds());
    }

    /**
     * Returns how long it may take from a release to the grant of a waiter in another process. A store that tells only the
     * waiters of its own process says so here.
     *
     * @return as {@link #wakeUpLimit()} unless overridden
     */
    default Duration wakeUpLimitElsewhere() {
        return wakeUpLimit();
    }

    /**
     * Freezes a process in which somebody waits. A store whose waiters keep others from writing while they look says so here.
     *
     * @param other the process
     */
    default void freezeWaiter(SecondProcess other) {
        other.freeze();
    }
}
