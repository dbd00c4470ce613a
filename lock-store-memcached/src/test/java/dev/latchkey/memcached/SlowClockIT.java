package dev.latchkey.memcached;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.testkit.TimeLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A server that was stopped answers at once, by the clock that it had, before it sets it: what it stores for some seconds then
 * may be over when the clock goes on.
 */
@Execution(ExecutionMode.CONCURRENT)
class SlowClockIT {

    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final Duration TTL = Duration.ofSeconds(30);
    private static final Duration LONGER_THAN_STORED = Duration.ofSeconds(36);

    @Test
    void givenAClockBehind_whenStoredQuickly_thenHoldsLastAsLongAsTheyAreBelieved(@TempDir Path directory)
            throws Exception {
        try (SlowClockServer server = new SlowClockServer(directory);
                MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store);
                MemcachedStore another = Stores.patient(server.address());
                LockFactory others = new LockFactory(another)) {
            locks.createLock("warm-up").acquire().release();
            server.stopClock();
            awaitPassed(LONGER_THAN_STORED);
            Lock written = locks.createLock("written", TTL);
            Lock read = locks.createLock("read", TTL);
            Lock demoted = locks.createLock("demoted", TTL);

            assertThat(written.tryAcquire()).isTrue();
            assertThat(read.tryAcquireShared()).isTrue();
            assertThat(demoted.tryAcquire() && demoted.tryAcquireShared()).isTrue();
            assertThat(written.refresh().isAcquired()).isTrue();

            server.letClockGoOn();
            for (Lock lock : List.of(written, read, demoted)) {
                assertThat(others.createLock(lock.key().resource(), TTL).tryAcquire() && !lock.isExpired())
                        .as(
                                "another holds beside one who believes to hold: %s",
                                lock.key().resource())
                        .isFalse();
                assertThat(lock.isAcquired()).as(lock.key().resource()).isTrue();
            }
        }
    }

    /** The item of a lease that has ended is still there by the clock that stands still. */
    @Test
    void givenAClockBehind_whenAHoldIsFound_thenItIsBelievedForNoLongerThanItLasts(@TempDir Path directory)
            throws Exception {
        Duration passed = Duration.ofSeconds(10);
        try (SlowClockServer server = new SlowClockServer(directory);
                MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store);
                MemcachedStore another = Stores.patient(server.address());
                LockFactory others = new LockFactory(another)) {
            for (LockFactory factory : List.of(locks, others)) {
                factory.createLock("warm-up").acquire().release();
            }
            Lock lock = locks.createLock("r", TTL).acquire();
            server.stopClock();
            // What the two have read of a clock of whole seconds may differ by one.
            awaitPassed(passed.plusSeconds(1));

            Lock adopted = others.createLock(lock.transferKey(), TTL);

            assertThat(adopted.isAcquired()).isTrue();
            assertThat(adopted.remainingLifetime().orElseThrow()).isLessThanOrEqualTo(TTL.minus(passed));
        }
    }

    /** What was stored by a date that was counted on over the pause lasted longer by the pause. */
    @Test
    void givenTheServersMachineWasSuspended_whenTheHolderDies_thenTheLockIsFreeAfterItsTtl(@TempDir Path directory)
            throws Exception {
        Duration suspended = Duration.ofSeconds(60);
        try (SlowClockServer server = new SlowClockServer(directory);
                MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store)) {
            locks.createLock("warm-up").acquire().release();
            server.stopClock();
            awaitPassed(suspended);
            server.letClockGoOnLate(suspended);

            assertThat(locks.createLock("r", TTL).tryAcquire()).isTrue();
            assertThat(locks.createLock("s", TTL).tryAcquireShared()).isTrue();

            assertThat(server.secondsLeft("lock:r")).isLessThanOrEqualTo(LONGER_THAN_STORED.toSeconds());
            assertThat(server.secondsLeft("lock:s")).isLessThanOrEqualTo(LONGER_THAN_STORED.toSeconds());
        }
    }

    private static void awaitPassed(Duration time) {
        long start = System.nanoTime();
        Awaitility.await().atMost(LIMIT).until(() -> System.nanoTime() - start >= time.toNanos());
    }
}
