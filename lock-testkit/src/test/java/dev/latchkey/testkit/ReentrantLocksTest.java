package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.reentrant.ReentrantLocks;
import dev.latchkey.reentrant.ThreadOwnedLock;
import dev.latchkey.reentrant.ThreadOwnedReadWriteLock;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.testkit.FaultyStore.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What {@code ReentrantLock} and {@code ReentrantReadWriteLock} promise, and what is different with a lease. */
@SuppressWarnings("LockNotBeforeTry") // what a test that fails leaves locked, nobody waits for
class ReentrantLocksTest {

    private static final Duration SHORT = TimeLimits.ttl(Duration.ofMillis(300));

    private final FaultyStore store = new FaultyStore(new InMemoryStore());
    private final LockFactory factory = new LockFactory(store);
    private final ReentrantLocks locks = new ReentrantLocks(factory);
    private final ThreadOwnedLock lock = locks.lock("x");
    private final ThreadOwnedReadWriteLock readWrite = locks.readWriteLock("x");

    /** The ways to acquire, which are the same to whoever holds the lock already. */
    enum Way {
        LOCK {
            @Override
            boolean acquire(Lock lock) {
                lock.lock();
                return true;
            }
        },
        INTERRUPTIBLY {
            @Override
            boolean acquire(Lock lock) throws InterruptedException {
                lock.lockInterruptibly();
                return true;
            }
        },
        TRY {
            @Override
            boolean acquire(Lock lock) {
                return lock.tryLock();
            }
        },
        TIMED {
            @Override
            boolean acquire(Lock lock) throws InterruptedException {
                return lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS);
            }
        };

        abstract boolean acquire(Lock lock) throws InterruptedException;
    }

    @AfterEach
    void close() {
        store.heal();
        factory.close();
    }

    @ParameterizedTest
    @EnumSource
    void givenHeld_whenTheSameThreadAcquiresItAgain_thenItHasToUnlockAsOften(Way way) throws Exception {
        assertThat(way.acquire(lock)).isTrue();
        store.forgetCalls();

        assertThat(way.acquire(lock)).isTrue();
        assertThat(way.acquire(locks.lock("x"))).as("another view of it").isTrue();

        assertThat(store.operations())
                .as("what is held already costs no request")
                .isEmpty();
        assertThat(lock.holdCount()).isEqualTo(3);
        lock.unlock();
        lock.unlock();
        assertThat(elsewhere(lock::tryLock)).isFalse();
        lock.unlock();
        assertThat(lock.holdCount()).isZero();
        assertThat(isFree()).isTrue();
    }

    @Test
    void givenHeld_whenAnotherThreadOrAnotherFactoryTries_thenItIsRefused() throws Exception {
        lock.lock();

        assertThat(elsewhere(lock::tryLock)).isFalse();
        assertThat(elsewhere(() -> lock.tryLock(1, TimeUnit.MILLISECONDS))).isFalse();
        assertThat(elsewhere(() -> lock.tryLock(-1, TimeUnit.DAYS))).isFalse();
        assertThat(new ReentrantLocks(factory).lock("x").tryLock())
                .as("the same thread, by way of other views")
                .isFalse();

        lock.unlock();
    }

    @Test
    void givenNotHeld_whenUnlocked_thenThatIsAnError() throws Exception {
        assertThatThrownBy(lock::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasMessageContaining("does not hold the lock \"x\"");
        lock.lock();
        assertThat(elsewhere(() -> {
                    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
                    assertThatThrownBy(readWrite.readLock()::unlock).isInstanceOf(IllegalMonitorStateException.class);
                    return lock.holdCount() == 0;
                }))
                .isTrue();
        assertThatThrownBy(readWrite.readLock()::unlock)
                .as("the read lock, by the writer")
                .isInstanceOf(IllegalMonitorStateException.class);
        lock.unlock();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void givenAWaiter_whenTheLockIsUnlocked_thenItIsNext() throws Exception {
        lock.lock();
        BackgroundCall<Boolean> waiter = BackgroundCall.start(() -> {
            lock.lock();
            lock.unlock();
            return true;
        });
        waiter.awaitWaiting();

        lock.unlock();

        assertThat(waiter.result()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(names = {"INTERRUPTIBLY", "TIMED"})
    void givenAWait_whenInterrupted_thenThatIsSaidAndNothingIsHeld(Way way) throws Exception {
        lock.lock();
        BackgroundCall<Integer> waiter = BackgroundCall.start(() -> {
            assertThatThrownBy(() -> way.acquire(lock)).isInstanceOf(InterruptedException.class);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            return lock.holdCount();
        });
        waiter.awaitWaiting();

        waiter.interrupt();

        assertThat(waiter.result()).isZero();
        lock.unlock();
        assertThat(isFree()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(names = {"INTERRUPTIBLY", "TIMED"})
    void givenHeldAndInterrupted_whenAcquiredAgain_thenThatIsSaid(Way way) throws Exception {
        lock.lock();
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> way.acquire(lock)).isInstanceOf(InterruptedException.class);

        assertThat(lock.holdCount()).isEqualTo(1);
        lock.unlock();
    }

    @Test
    void givenAnUninterruptibleWait_whenInterrupted_thenItGoesOnAndTheFlagIsKept() throws Exception {
        lock.lock();
        BackgroundCall<Boolean> waiter = BackgroundCall.start(() -> {
            lock.lock();
            boolean isInterrupted = Thread.currentThread().isInterrupted();
            lock.unlock();
            return isInterrupted && Thread.interrupted();
        });
        waiter.awaitWaiting();

        waiter.interrupt();
        assertThat(elsewhere(lock::tryLock)).isFalse();
        lock.unlock();

        assertThat(waiter.result()).isTrue();
    }

    @Test
    void givenInterrupted_whenTriedWithoutAWait_thenItIsAcquiredAndTheFlagIsKept() {
        Thread.currentThread().interrupt();

        assertThat(lock.tryLock()).isTrue();
        lock.unlock();

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void givenALock_whenAskedForACondition_thenItSaysThatThereIsNone() {
        assertThatThrownBy(lock::newCondition).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void givenManyThreads_whenEachAcquiresTwice_thenNoTwoHoldIt() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        List<BackgroundCall<Integer>> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            threads.add(BackgroundCall.start(() -> {
                int most = 0;
                for (int round = 0; round < 200; round++) {
                    lock.lock();
                    locks.lock("x").lock();
                    most = Math.max(most, inside.incrementAndGet());
                    inside.decrementAndGet();
                    lock.unlock();
                    lock.unlock();
                }
                return most;
            }));
        }
        for (BackgroundCall<Integer> thread : threads) {
            assertThat(thread.result()).isEqualTo(1);
        }
    }

    @Test
    void givenItsLeaseHasEnded_whenAnotherThreadOfTheProcessWaits_thenThatAcquiresIt() throws Exception {
        ThreadOwnedLock brief = new ReentrantLocks(name -> factory.lock(name).ttl(SHORT)).lock("x");
        brief.lock();

        assertThat(elsewhere(() -> {
                    brief.lock();
                    brief.unlock();
                    return true;
                }))
                .isTrue();

        assertLost(brief::unlock);
    }

    @Test
    void givenALoss_whenUnlockedOrAcquiredAgain_thenEachThrowsUntilItIsUnlockedAsOften() {
        lock.lock();
        lock.lock();
        lock.lock();
        Key lost = lock.hold().orElseThrow().key();
        lose(lock);

        assertLost(lock::unlock);
        for (Way way : Way.values()) {
            assertLost(() -> way.acquire(lock));
        }
        assertLost(lock::unlock);
        assertLost(lock::unlock);

        assertThat(lock.holdCount()).isZero();
        // The session that is lost had it until now.
        assertThat(store.delete(lost)).isTrue();
        lock.lock();
        assertThat(lock.hold().orElseThrow().isExpired()).as("held anew").isFalse();
        lock.unlock();
    }

    @Test
    void givenALossThatAListenerWasToldOf_whenUnlocked_thenItThrowsAllTheSame() {
        List<LossReason> told = new ArrayList<>();
        ThreadOwnedLock listened = new ReentrantLocks(name -> factory.lock(name).onLost(told::add)).lock("x");
        listened.lock();
        lose(listened);
        await().atMost(TimeLimits.LIMIT).until(() -> !told.isEmpty());

        assertLost(listened::unlock);
    }

    @Test
    void givenTheStoreFails_whenLocked_thenThatIsSaidAndNothingIsHeld() throws Exception {
        store.next(Operation.WAIT_AND_SAVE, Fault.replyLost()).next(Operation.SAVE, Fault.replyLost());

        assertThatThrownBy(lock::lock).isInstanceOf(LockStorageException.class);

        assertThat(lock.holdCount()).isZero();
        assertThat(lock.hold()).isEmpty();
        store.heal();
        assertThat(isFree()).isTrue();
    }

    @Test
    void givenTheStoreFails_whenUnlocked_thenThatIsSaidAndTheThreadHoldsNothing() {
        lock.lock();
        store.next(Operation.DELETE, Fault.unreachable());

        assertThatThrownBy(lock::unlock).isInstanceOf(LockStorageException.class);

        assertThat(lock.holdCount()).isZero();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void givenAWait_whenTheFactoryIsClosed_thenItEnds() throws Exception {
        BackgroundCall<Boolean> holder = BackgroundCall.start(lock::tryLock);
        assertThat(holder.result()).isTrue();
        LockFactory other = new LockFactory(store);
        ThreadOwnedLock waited = new ReentrantLocks(other).lock("x");
        BackgroundCall<Boolean> waiter = BackgroundCall.start(() -> {
            waited.lock();
            return true;
        });
        waiter.awaitWaiting();

        other.close();

        assertThatThrownBy(waiter::result).isInstanceOf(LockConflictedException.class);
    }

    @Test
    void givenAnotherTtl_whenAcquired_thenTheLeaseIsThatLong() {
        ThreadOwnedLock longer = lock.withTtl(Duration.ofHours(2));
        longer.lock();

        assertThat(lock.hold().orElseThrow().remainingLifetime().orElseThrow()).isGreaterThan(Duration.ofHours(1));
        assertThat(lock.hold().orElseThrow().fencingToken()).isPresent();
        lock.unlock();
        assertThatThrownBy(() -> lock.withTtl(Duration.ZERO).lock()).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void givenAnInvalidName_whenShown_thenItIsShortAndOnOneLine() {
        assertThat(locks.lock("a\nb" + "x".repeat(1_000)).toString())
                .hasSizeLessThan(300)
                .doesNotContain("\n");
    }

    @Test
    void givenReaders_whenAWriterTries_thenItIsRefusedUntilTheyAreGone() throws Exception {
        readWrite.readLock().lock();
        readWrite.readLock().lock();

        assertThat(elsewhere(this::readBriefly)).isTrue();
        assertThat(elsewhere(readWrite.writeLock()::tryLock)).isFalse();
        readWrite.readLock().unlock();
        assertThat(elsewhere(lock::tryLock)).as("it was acquired twice").isFalse();
        readWrite.readLock().unlock();
        assertThat(isFree()).isTrue();
    }

    @Test
    void givenAWriter_whenItReadsToo_thenItsHoldIsDemotedWithoutAGap() throws Exception {
        readWrite.writeLock().lock();
        BackgroundCall<Boolean> rival = BackgroundCall.start(() -> {
            readWrite.writeLock().lock();
            readWrite.writeLock().unlock();
            return true;
        });
        rival.awaitWaiting();
        readWrite.readLock().lock();

        readWrite.writeLock().unlock();

        assertThat(readWrite.writeLock().holdCount()).isZero();
        assertThat(readWrite.readLock().holdCount()).isEqualTo(1);
        assertThat(elsewhere(lock::tryLock)).as("still read").isFalse();
        assertThat(rival.isDone()).isFalse();
        readWrite.readLock().unlock();
        assertThat(rival.result()).isTrue();
    }

    @Test
    void givenAWriterThatReads_whenItUnlocksTheReadLockFirst_thenItStaysAWriter() throws Exception {
        readWrite.writeLock().lock();
        readWrite.readLock().lock();

        readWrite.readLock().unlock();

        assertThat(elsewhere(readWrite.readLock()::tryLock)).isFalse();
        readWrite.writeLock().unlock();
        assertThat(isFree()).isTrue();
    }

    @Test
    void givenTheOnlyReader_whenItWrites_thenItIsPromoted() throws Exception {
        readWrite.readLock().lock();

        readWrite.writeLock().lock();

        assertThat(elsewhere(readWrite.readLock()::tryLock)).isFalse();
        readWrite.writeLock().unlock();
        assertThat(elsewhere(this::readBriefly)).as("demoted again").isTrue();
        readWrite.readLock().unlock();
        assertThat(isFree()).isTrue();
    }

    @Test
    void givenTwoReaders_whenBothWantToWrite_thenOneIsRefusedAndReadsOn() throws Exception {
        CountDownLatch bothRead = new CountDownLatch(2);
        Callable<Boolean> promotion = () -> {
            readWrite.readLock().lock();
            bothRead.countDown();
            bothRead.await();
            try {
                readWrite.writeLock().lock();
                readWrite.writeLock().unlock();
                return true;
            } catch (LockConflictedException e) {
                assertThat(e.reason()).isEqualTo(LockConflictedException.Reason.PROMOTION_REFUSED);
                assertThat(readWrite.readLock().holdCount()).isEqualTo(1);
                return false;
            } finally {
                readWrite.readLock().unlock();
            }
        };

        BackgroundCall<Boolean> one = BackgroundCall.start(promotion);
        BackgroundCall<Boolean> other = BackgroundCall.start(promotion);

        assertThat(List.of(one.result(), other.result())).containsExactlyInAnyOrder(true, false);
        assertThat(isFree()).isTrue();
    }

    @Test
    void givenALostReader_whenItWantsToWrite_thenThatIsSaid() {
        readWrite.readLock().lock();
        lose(lock);

        assertLost(readWrite.writeLock()::lock);
        assertLost(readWrite.readLock()::unlock);
    }

    @Test
    void givenALostWriter_whenItsHoldIsToBeDemoted_thenThatIsSaid() {
        readWrite.writeLock().lock();
        readWrite.readLock().lock();
        lose(lock);

        assertLost(readWrite.writeLock()::unlock);
        assertLost(readWrite.readLock()::unlock);
        assertThat(lock.hold()).isEmpty();
    }

    @Test
    void givenAWriterWhoseHoldWasTakenAway_whenItIsDemoted_thenThatIsSaid() {
        readWrite.writeLock().lock();
        readWrite.readLock().lock();
        assertThat(store.delete(lock.hold().orElseThrow().key())).isTrue();

        assertThatThrownBy(readWrite.writeLock()::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasCauseInstanceOf(LockLostException.class);
        assertLost(readWrite.readLock()::unlock);
    }

    @ParameterizedTest
    @EnumSource
    void givenARollout_whenAcquired_thenBothLocksAreHeldUntilUnlockedAsOften(Way way) throws Exception {
        ReentrantLock old = new ReentrantLock();
        Lock both = locks.rolloutFrom(old, "x");

        assertThat(way.acquire(both)).isTrue();
        assertThat(way.acquire(both)).isTrue();

        both.unlock();
        assertThat(old.getHoldCount()).isEqualTo(1);
        assertThat(elsewhere(old::tryLock)).isFalse();
        assertThat(elsewhere(lock::tryLock)).isFalse();
        both.unlock();
        assertThat(old.isLocked()).isFalse();
        assertThat(isFree()).isTrue();
    }

    @Test
    void givenARollout_whenOneOfTheLocksIsHeld_thenRefusedAndTheOtherIsFree() throws Exception {
        ReentrantLock old = new ReentrantLock();
        Lock both = locks.rolloutFrom(old, "x");

        old.lock();
        assertThat(elsewhere(both::tryLock)).isFalse();
        assertThat(elsewhere(() -> both.tryLock(1, TimeUnit.MILLISECONDS))).isFalse();
        assertThat(isFree()).isTrue();
        old.unlock();

        lock.lock();
        assertThat(elsewhere(both::tryLock)).isFalse();
        assertThat(elsewhere(() -> both.tryLock(1, TimeUnit.MILLISECONDS))).isFalse();
        assertThat(old.isLocked()).isFalse();
        lock.unlock();
    }

    @Test
    void givenARollout_whenTheNewLockFails_thenTheOldOneIsUnlocked() {
        ReentrantLock old = new ReentrantLock();
        Lock both = locks.rolloutFrom(old, "x");
        store.always(Operation.SAVE, Fault.unreachable()).always(Operation.WAIT_AND_SAVE, Fault.unreachable());

        for (Way way : Way.values()) {
            assertThatThrownBy(() -> way.acquire(both)).isInstanceOf(LockStorageException.class);
            assertThat(old.isLocked()).isFalse();
        }
    }

    @Test
    void givenARollout_whenTheNewLockIsLost_thenUnlockSaysSoAndUnlocksTheOldOne() {
        ReentrantLock old = new ReentrantLock();
        Lock both = locks.rolloutFrom(old, "x");
        both.lock();
        lose(lock);

        assertLost(both::unlock);

        assertThat(old.isLocked()).isFalse();
        old.lock();
        assertThatThrownBy(both::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(old.isLocked()).as("what was locked without it stays").isTrue();
    }

    private boolean readBriefly() {
        boolean isAcquired = readWrite.readLock().tryLock();
        if (isAcquired) {
            readWrite.readLock().unlock();
        }
        return isAcquired;
    }

    private boolean isFree() throws Exception {
        return elsewhere(() -> {
            boolean isAcquired = lock.tryLock();
            if (isAcquired) {
                lock.unlock();
            }
            return isAcquired;
        });
    }

    /** What another thread is answered. */
    private static boolean elsewhere(Callable<Boolean> call) throws Exception {
        return BackgroundCall.start(call).result();
    }

    /** Ends the hold of the current thread. */
    private void lose(ThreadOwnedLock held) {
        dev.latchkey.Lock hold = held.hold().orElseThrow();
        assertThat(store.lose(hold.key(), LossReason.SESSION_LOST)).isTrue();
        await().atMost(TimeLimits.LIMIT).until(hold::isExpired);
    }

    private static void assertLost(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasMessageContaining("was lost");
    }
}
