package dev.latchkey.testkit;

import dev.latchkey.Lock;
import dev.latchkey.LockLostException;
import java.time.Duration;
import java.util.Optional;

/** Leases that are changed on a machine that may be busy. */
final class Leases {

    /**
     * A TTL that outlasts a few steps of a test, also if one of them takes seconds longer, and that a test can wait
     * for. Of whole seconds, which is all that some stores count.
     */
    static final Duration ROOMY_TTL =
            Duration.ofSeconds(TimeLimits.ttl(Duration.ofSeconds(6)).toSeconds());

    private Leases() {}

    /** Has a lease end soon. An answer that comes later than that has ended it as well. */
    static void shorten(Lock lock, Duration ttl) {
        Optional<Duration> left = lock.remainingLifetime();
        long start = System.nanoTime();
        try {
            lock.refresh(ttl);
        } catch (LockLostException e) {
            Duration longest = left.filter(rest -> rest.compareTo(ttl) < 0).orElse(ttl);
            if (System.nanoTime() - start < longest.toNanos()) {
                throw e;
            }
        }
    }
}
