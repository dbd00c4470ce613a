package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.spi.InspectableStore;
import java.time.Duration;
import org.awaitility.Awaitility;

/** What the contracts of sticky locks share. */
final class StickyLocks {

    /** Longer than a test takes. */
    static final Duration STICKY = TimeLimits.LIMIT.multipliedBy(2);

    /** Far longer than anybody is ready to wait. */
    static final Duration FOR_LONG = Duration.ofHours(1);

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

    /** As {@link #usedToken(Lock)}, after a recall: what was kept may still be on its way back, while a try is refused. */
    static long usedTokenAfterARecall(Lock lock) throws InterruptedException {
        assertThat(lock.tryAcquire(TimeLimits.LIMIT)).isTrue();
        long token = lock.fencingToken().orElseThrow();
        assertThat(lock.release()).isTrue();
        return token;
    }

    /** Nobody asks for it: a recall that was sent before may come late, and ends what is kept as well. */
    static void awaitNobodyHolds(Fixture fixture) {
        InspectableStore store = fixture.store(InspectableStore.class);
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> store.holders(fixture.resource()).isEmpty());
    }

    /** Acquires and releases in another process until it is kept there; returns the fencing token that was used last. */
    static long keptToken(Fixture fixture, RemoteLock lock) {
        InspectableStore store = fixture.store(InspectableStore.class);
        return Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(
                        () -> usedToken(lock),
                        unused -> !store.holders(fixture.resource()).isEmpty());
    }

    private static long usedToken(RemoteLock lock) {
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        assertThat(lock.release()).isTrue();
        return token;
    }
}
