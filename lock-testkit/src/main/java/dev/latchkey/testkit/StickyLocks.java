package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.time.Duration;

/** What the contracts of sticky locks share. */
final class StickyLocks {

    /** Longer than a test takes. */
    static final Duration STICKY = Duration.ofMinutes(1);

    private StickyLocks() {}

    static Lock sticky(Fixture fixture, LockFactory here) {
        return here.lock(fixture.resource())
                .ttl(Fixture.LONG_TTL)
                .sticky(STICKY)
                .create();
    }

    /** Acquires and releases; returns the fencing token of that hold. */
    static long usedToken(Lock lock) {
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        assertThat(lock.release()).isTrue();
        return token;
    }
}
