package dev.latchkey.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.LockFactory;
import dev.latchkey.spi.Lease;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** What Spring Integration expects of a registry, of two processes of which each has its own factory. */
@SuppressWarnings("LockNotBeforeTry") // what a test that fails leaves locked, nobody waits for
abstract class LockRegistryContract {

    private static final Duration SHORT = TimeLimits.ttl(Duration.ofSeconds(1));

    private final String name = "lock-" + UUID.randomUUID();

    private LockFactory locks;
    private LockFactory otherLocks;
    private LatchkeyLockRegistry registry;
    private DistributedLock lock;
    private DistributedLock rival;

    /** Creates a factory over the store; all share its locks. */
    abstract LockFactory connect();

    @BeforeEach
    void open() {
        locks = connect();
        otherLocks = connect();
        registry = new LatchkeyLockRegistry(locks);
        lock = registry.obtain(name);
        rival = new LatchkeyLockRegistry(otherLocks).obtain(name);
    }

    @AfterEach
    void close() {
        locks.close();
        otherLocks.close();
    }

    LockRegistry<DistributedLock> registry(LockFactory locks) {
        LatchkeyLockRegistry registry = new LatchkeyLockRegistry(locks, Duration.ofSeconds(30));
        registry.setRenewalTaskScheduler(new ThreadPoolTaskScheduler()); // renewed until it is unlocked
        return registry;
    }

    @Test
    void givenALock_whenAnotherRegistryOrThreadTries_thenItIsRefusedUntilUnlockedAsOften() throws Exception {
        lock.lock();
        registry.obtain(name).lock();

        assertThat(rival.tryLock()).isFalse();
        assertThat(rival.tryLock(1, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(rival.tryLock(Duration.ofMillis(1), SHORT)).isFalse();
        assertThat(BackgroundCall.start(lock::tryLock).result()).isFalse();
        lock.unlock();
        assertThat(rival.tryLock()).isFalse();
        lock.unlock();

        assertThat(rival.tryLock()).isTrue();
        rival.unlock();
    }

    @Test
    void givenAWaiter_whenTheLockIsUnlocked_thenItIsNext() throws Exception {
        lock.lockInterruptibly();
        BackgroundCall<Boolean> waiter = BackgroundCall.start(() -> {
            rival.lock();
            rival.unlock();
            return true;
        });
        waiter.awaitWaiting();

        lock.unlock();

        assertThat(waiter.result()).isTrue();
    }

    @Test
    void givenAWait_whenInterrupted_thenThatIsSaid() throws Exception {
        lock.lock();
        BackgroundCall<Boolean> waiter = BackgroundCall.start(() -> rival.tryLock(1, TimeUnit.DAYS));
        waiter.awaitWaiting();

        waiter.interrupt();

        assertThatThrownBy(waiter::result).isInstanceOf(InterruptedException.class);
        lock.unlock();
    }

    @Test
    void givenHeldElsewhere_whenUnlocked_thenItSaysThatItIsNotOurs() throws Exception {
        lock.lock();

        assertThatThrownBy(rival::unlock)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("You do not own");
        BackgroundCall<Boolean> foreign = BackgroundCall.start(() -> {
            lock.unlock();
            return true;
        });
        assertThatThrownBy(foreign::result).isInstanceOf(IllegalStateException.class);
        assertThat(rival.tryLock()).as("it is held still").isFalse();

        lock.unlock();
    }

    @Test
    void givenALockOfItsOwnTtl_whenItIsOver_thenARivalHasItAndUnlockSaysSo() throws Exception {
        lock.lock(SHORT);

        assertThat(rival.tryLock(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isTrue();

        assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
        assertThat(registry.obtain(name).tryLock())
                .as("the late unlock leaves the next holder's lock alone")
                .isFalse();
        rival.unlock();
    }

    @Test
    void givenALockOfItsOwnTtl_whenRenewed_thenItOutlivesItsFirstEnd() throws Exception {
        Duration first = SHORT;
        long start = System.nanoTime();
        while (!isLockedAndRenewed(first, start)) {
            // It was over before the machine got to it.
            assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
            first = first.multipliedBy(2);
            start = System.nanoTime();
        }

        awaitOver(start, first.multipliedBy(2));
        assertThat(rival.tryLock()).isFalse();
        lock.unlock();
    }

    /** False if the TTL was over before it was renewed. */
    private boolean isLockedAndRenewed(Duration ttl, long start) throws Exception {
        assertThat(lock.tryLock(Duration.ZERO, ttl)).isTrue();
        try {
            registry.renewLock(name);
            registry.renewLock(name, Duration.ofMinutes(5));
            return true;
        } catch (IllegalStateException e) {
            if (System.nanoTime() - Lease.reliableUntil(start, ttl) < 0) {
                throw e;
            }
            return false;
        }
    }

    @Test
    void givenNotHeldOrLost_whenRenewed_thenThatIsSaid() throws Exception {
        assertThatThrownBy(() -> registry.renewLock(name)).isInstanceOf(IllegalStateException.class);
        lock.lock(SHORT);
        assertThat(rival.tryLock(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isTrue();

        assertThatThrownBy(() -> registry.renewLock(name, SHORT)).isInstanceOf(IllegalStateException.class);

        assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
        rival.unlock();
    }

    @Test
    void givenASchedulerIsSet_whenTheTtlIsOverSeveralTimes_thenItIsHeld() {
        registry.setRenewalTaskScheduler(new ThreadPoolTaskScheduler());
        Duration ttl = SHORT.multipliedBy(8);
        long start = System.nanoTime();
        lock.lock(ttl);

        awaitOver(start, ttl.multipliedBy(2));

        assertThat(rival.tryLock()).isFalse();
        lock.unlock();
    }

    @Test
    void givenWorkUnderALock_whenExecuted_thenNobodyElseHoldsItMeanwhile() throws Exception {
        LockRegistry<DistributedLock> renewed = registry(locks);

        String result = renewed.executeLocked(name, () -> {
            assertThat(rival.tryLock()).isFalse();
            return "done";
        });

        assertThat(result).isEqualTo("done");
        assertThat(rival.tryLock()).isTrue();
        assertThatThrownBy(() -> renewed.executeLocked(name, Duration.ofMillis(1), () -> "not done"))
                .isInstanceOf(TimeoutException.class);
        rival.unlock();
    }

    @Test
    void givenManyNames_whenExpired_thenWhatIsHeldStays() {
        lock.lock();
        for (int i = 0; i < 1_000; i++) {
            assertThat(registry.obtain(name + i)).isNotNull();
        }

        registry.expireUnusedOlderThan(0);

        assertThat(rival.tryLock()).isFalse();
        lock.unlock();
        assertThat(rival.tryLock()).isTrue();
        rival.unlock();
    }

    /** The passing of time is what these tests are about. */
    private static void awaitOver(long start, Duration time) {
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> System.nanoTime() - start > time.toNanos());
    }
}
