package dev.latchkey.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.LockFactory;
import dev.latchkey.spi.Lease;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.ResourceLockTarget;

/** What ShedLock expects of a provider, of two processes of which each has its own factory. */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(
        value = LockProviderContract.THREADS,
        mode = ResourceAccessMode.READ,
        target = ResourceLockTarget.CHILDREN)
abstract class LockProviderContract {

    /** What one of the tests counts, and therefore runs alone. */
    static final String THREADS = "threads of providers";

    private static final Duration LONG = Duration.ofMinutes(5);

    /** Too short for any store. */
    private static final Duration KEPT_BY_PROVIDER = Duration.ofMillis(900);

    private final String job = "job-" + UUID.randomUUID();

    private LockFactory locks;
    private LockFactory otherLocks;
    private LatchkeyLockProvider provider;
    private LatchkeyLockProvider other;

    /** Creates a factory over the store; all share its locks. */
    abstract LockFactory connect();

    @BeforeEach
    void open() {
        locks = connect();
        otherLocks = connect();
        provider = new LatchkeyLockProvider(locks);
        other = new LatchkeyLockProvider(otherLocks);
    }

    @AfterEach
    void close() {
        provider.close();
        other.close();
        locks.close();
        otherLocks.close();
    }

    @Test
    void givenALock_whenAnotherProcessAsksForIt_thenItGetsItOnlyAfterTheUnlock() {
        SimpleLock lock = locked(provider, LONG, Duration.ZERO);

        assertThat(other.lock(configuration(LONG, Duration.ZERO))).isEmpty();
        assertThat(provider.lock(configuration(LONG, Duration.ZERO)))
                .as("also to its own process")
                .isEmpty();

        lock.unlock();
        locked(other, LONG, Duration.ZERO).unlock();
    }

    @Test
    void givenALockIsNeverUnlocked_whenItsLongestTimeIsOver_thenAnotherProcessGetsIt() {
        Duration atMost = Duration.ofMillis(300);
        long start = System.nanoTime();
        SimpleLock overrun = lockedShortly(atMost);

        SimpleLock next = awaitLock(other);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(atMost);

        overrun.unlock();
        assertThat(provider.lock(configuration(LONG, Duration.ZERO)))
                .as("the late unlock leaves the next holder's lock alone")
                .isEmpty();
        next.unlock();
    }

    @Test
    void givenAShortestTime_whenTheLockIsUnlockedSooner_thenItIsKeptUntilThen() {
        Duration atLeast = Duration.ofMillis(1_100);
        Duration most = Duration.ofSeconds(2);
        Duration kept = most;
        // A busy machine makes some of them longer, but not all.
        for (int i = 0; i < 10 && kept.compareTo(most) >= 0; i++) {
            long start = System.nanoTime();
            locked(provider, LONG, atLeast).unlock();
            SimpleLock next = awaitLock(other);
            kept = Duration.ofNanos(System.nanoTime() - start);
            next.unlock();
            assertThat(kept).isGreaterThanOrEqualTo(atLeast);
        }

        assertThat(kept).as("also where the store counts whole seconds").isLessThan(most);
    }

    @Test
    void givenALock_whenItIsExtended_thenItOutlivesItsFirstEndAndTheOldOneIsUnusable() {
        Duration first = TimeLimits.ttl(Duration.ofMillis(1_500));
        long start = System.nanoTime();
        SimpleLock old = locked(provider, first, Duration.ZERO);
        Optional<SimpleLock> inTime = old.extend(LONG, Duration.ZERO);
        while (inTime.isEmpty() && System.nanoTime() - start > first.toNanos()) {
            // It was over before the machine got to it.
            first = first.multipliedBy(2);
            start = System.nanoTime();
            old = locked(provider, first, Duration.ZERO);
            inTime = old.extend(LONG, Duration.ZERO);
        }
        SimpleLock extended = inTime.orElseThrow();

        SimpleLock unusable = old;
        assertThatThrownBy(unusable::unlock).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> unusable.extend(LONG, Duration.ZERO)).isInstanceOf(IllegalStateException.class);
        awaitOver(start, first.plus(first));
        assertThat(other.lock(configuration(LONG, Duration.ZERO))).isEmpty();
        extended.unlock();
        locked(other, LONG, Duration.ZERO).unlock();
    }

    @Test
    void givenALock_whenItIsExtendedWithAShortestTime_thenItIsKeptFromThenOn() {
        SimpleLock extended = locked(provider, LONG, Duration.ZERO)
                .extend(LONG, Duration.ofMinutes(1))
                .orElseThrow();

        extended.unlock();

        assertThat(other.lock(configuration(LONG, Duration.ZERO))).isEmpty();
    }

    @Test
    void givenALockOfTwoMilliseconds_whenTheyAreOver_thenItIsNotExtendedAndIsFree() {
        SimpleLock lock = lockedShortly(Duration.ofMillis(2));
        long start = System.nanoTime();
        awaitOver(start, Duration.ofMillis(4));

        assertThat(lock.extend(LONG, Duration.ZERO)).isEmpty();
        awaitLock(other).unlock();
    }

    @Test
    void givenALockKeptAlive_whenItsTtlIsOverSeveralTimes_thenItIsHeldAndCannotBeExtended() {
        Duration ttl = TimeLimits.ttl(Duration.ofSeconds(8));
        long start = System.nanoTime();
        SimpleLock lock = locked(provider.keepAlive(ttl), LONG, Duration.ZERO);

        assertThatThrownBy(() -> lock.extend(LONG, Duration.ZERO)).isInstanceOf(UnsupportedOperationException.class);
        awaitOver(start, ttl.multipliedBy(2));
        assertThat(other.lock(configuration(LONG, Duration.ZERO))).isEmpty();
        lock.unlock();
        locked(other, LONG, Duration.ZERO).unlock();
    }

    @Test
    void givenALockKeptAlive_whenItsLongestTimeIsOver_thenAnotherProcessGetsIt() {
        Duration atMost = TimeLimits.ttl(Duration.ofSeconds(12));
        long start = System.nanoTime();
        locked(provider.keepAlive(TimeLimits.ttl(Duration.ofSeconds(8))), atMost, Duration.ZERO);

        awaitLock(other).unlock();
        assertThat(System.nanoTime() - start)
                .as("less what its clock and that of the store may differ by")
                .isGreaterThanOrEqualTo(Lease.reliableUntil(0, atMost));
    }

    @Test
    void givenAClosedProvider_whenALockIsAskedFor_thenItSaysSo() {
        provider.close();

        assertThatThrownBy(() -> provider.lock(configuration(LONG, Duration.ZERO)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        locked(other, LONG, Duration.ZERO).unlock();
    }

    @Test
    void givenAnUnlockedLockThatTheProviderKeeps_whenItIsClosed_thenAnotherProcessGetsTheLock() {
        locked(provider, LONG, KEPT_BY_PROVIDER).unlock();

        provider.close();

        locked(other, LONG, Duration.ZERO).unlock();
    }

    @Test
    void givenAClosedProvider_whenALockThatItWouldKeepIsUnlocked_thenAnotherProcessGetsTheLock() {
        SimpleLock lock = locked(provider, LONG, KEPT_BY_PROVIDER);
        provider.close();
        assertThat(other.lock(configuration(LONG, Duration.ZERO)))
                .as("what is not unlocked stays held")
                .isEmpty();

        lock.unlock();

        locked(other, LONG, Duration.ZERO).unlock();
    }

    @Test
    @ResourceLock(THREADS)
    void givenTheLastLockIsUnlocked_thenNoThreadStays() {
        SimpleLock kept = locked(provider, LONG, KEPT_BY_PROVIDER);
        assertThat(hasThread()).isTrue();

        kept.unlock();

        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> !hasThread());
    }

    static boolean hasThread() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("latchkey-shedlock"));
    }

    private SimpleLock locked(LockProvider of, Duration atMost, Duration atLeast) {
        return of.lock(configuration(atMost, atLeast)).orElseThrow();
    }

    /** On a busy machine, it may be over before the store has answered. */
    private SimpleLock lockedShortly(Duration atMost) {
        return Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .pollDelay(Duration.ZERO)
                .until(() -> provider.lock(configuration(atMost, Duration.ZERO)), Optional::isPresent)
                .orElseThrow();
    }

    private SimpleLock awaitLock(LockProvider of) {
        return Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> of.lock(configuration(LONG, Duration.ZERO)), Optional::isPresent)
                .orElseThrow();
    }

    /** The passing of time is what these tests are about. */
    private static void awaitOver(long start, Duration time) {
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .pollInterval(Duration.ofMillis(1))
                .until(() -> System.nanoTime() - start > time.toNanos());
    }

    private LockConfiguration configuration(Duration atMost, Duration atLeast) {
        return new LockConfiguration(Instant.now(), job, atMost, atLeast);
    }
}
