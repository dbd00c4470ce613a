package dev.latchkey.testkit;

import static dev.latchkey.testkit.FaultyStore.Operation.DELETE;
import static dev.latchkey.testkit.FaultyStore.Operation.FIND;
import static dev.latchkey.testkit.FaultyStore.Operation.REFRESH;
import static dev.latchkey.testkit.FaultyStore.Operation.SAVE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Capability;
import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockConflictedException.Reason;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import dev.latchkey.store.InMemoryStore;
import java.lang.ref.WeakReference;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a holder is told: that a hold is lost, once and truly, and why a lock was not had. */
class ToldOnceTest {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final Duration SHORT = TimeLimits.ttl(Duration.ofMillis(300));

    /** What is asked in another thread comes to the store before this is over. */
    private static final Duration LONGER = Duration.ofSeconds(3);

    private final InMemoryStore memory = new InMemoryStore();
    private final FaultyStore store = new FaultyStore(memory);
    private final LockFactory locks = new LockFactory(store);
    private final List<LossReason> losses = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        store.heal();
        locks.close();
    }

    /** A15: who renews by acquiring learns that a rival was in. */
    @Test
    void givenALossThatNobodyWasToldOf_whenAcquired_thenThrownOnceAndTakenAnewAfterIt() throws Exception {
        Lock lock = locks.createLock("x", SHORT);
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(locks.createLock("x", TTL).acquire().release()).isTrue();

        assertLost(LossReason.EXPIRED, lock::tryAcquire);

        assertThat(lock.tryAcquire()).isTrue();
        assertThatCode(lock::close).doesNotThrowAnyException();
    }

    @Test
    void givenALossThatWasShown_whenAcquired_thenTakenAnew() throws Exception {
        Lock lock = locks.createLock("x", SHORT);
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(locks.createLock("x", TTL).acquire().release()).isTrue();
        assertThat(lock.isExpired()).isTrue();

        assertThat(lock.tryAcquire()).isTrue();
    }

    /** C3: that the loss of one hold was thrown says nothing about the next. */
    @Test
    void givenTheLossOfOneHoldIsThrownLate_whenTheNextIsLost_thenCloseThrows() throws Exception {
        Lock lock = locks.lock("x").ttl(TTL).onLost(losses::add).create();
        assertThat(lock.tryAcquire()).isTrue();
        Pause pause = new Pause();
        store.next(REFRESH, Fault.pausedAfter(pause));
        BackgroundCall<Lock> refresh = BackgroundCall.start(lock::refresh);
        pause.awaitReached();
        Key first = lock.key();
        assertThat(store.lose(first, LossReason.SESSION_LOST)).isTrue();
        await().until(() -> !losses.isEmpty());
        lock.acquire();
        assertThat(store.lose(lock.key(), LossReason.TAKEN_OVER)).isTrue();
        await().until(() -> losses.size() == 2);
        pause.end();
        assertThatExceptionOfType(LockLostException.class).isThrownBy(refresh::result);

        assertLost(LossReason.TAKEN_OVER, () -> {
            lock.close();
            return true;
        });
    }

    /** C4, C23: whether or not somebody else took it, what looked over here was lost, and that is the reason. */
    @Test
    void givenAnEndedLeaseThatNobodyTook_whenReleased_thenFalse() {
        Lock lock = locks.createLock("x", SHORT);
        assertThat(lock.tryAcquire()).isTrue();
        await().until(lock::isExpired);

        assertThat(lock.release()).isFalse();

        assertThat(lock.isExpired()).isFalse();
        assertThatCode(lock::close).doesNotThrowAnyException();
    }

    /** C4, C23 */
    @Test
    void givenAnEndedLeaseThatNobodyTook_whenClosed_thenThrownWithTheReasonThatListenersWereTold() {
        Lock lock = locks.createLock("x", SHORT);
        assertThat(lock.tryAcquire()).isTrue();
        await().until(() -> lock.remainingLifetime().orElseThrow().isZero());

        assertLost(LossReason.EXPIRED, () -> {
            lock.close();
            return true;
        });

        assertThatCode(lock::close).doesNotThrowAnyException();
    }

    /** C4: the answer to a request of a hold that is over tells of what came after it. */
    @Test
    @Tag("slow")
    void givenTheLeaseEndsWhileTheStoreIsAsked_whenSomebodyElseHasTheKey_thenTheReasonIsTheEndOfTheLease()
            throws Exception {
        Lock lock = locks.lock("x").ttl(LONGER).create();
        assertThat(lock.tryAcquire()).isTrue();
        Key key = lock.key();
        Pause pause = new Pause();
        store.next(SAVE, Fault.pausedBefore(pause));
        BackgroundCall<Boolean> again = BackgroundCall.start(lock::tryAcquireShared);
        pause.awaitReached();
        await().until(() -> memory.find(key).isEmpty());
        assertThat(locks.createLock(key.claiming(Optional.empty()), TTL).tryAcquire())
                .isTrue();

        pause.end();

        assertLost(LossReason.EXPIRED, again::result);
    }

    /** C4: what is held by then is another hold. */
    @Test
    @Tag("slow")
    void givenARefreshIsAnsweredAfterTheNextHoldBegan_whenItThrows_thenWithTheReasonOfItsOwnHold() throws Exception {
        Lock lock = locks.lock("x").ttl(LONGER).onLost(losses::add).create();
        assertThat(lock.tryAcquire()).isTrue();
        Pause pause = new Pause();
        store.next(REFRESH, Fault.pausedBefore(pause));
        BackgroundCall<Lock> refresh = BackgroundCall.start(lock::refresh);
        pause.awaitReached();
        await().until(() -> !losses.isEmpty());
        assertThat(lock.tryAcquire()).isTrue();

        pause.end();

        assertLost(LossReason.EXPIRED, refresh::result);
    }

    /** What is not held any more shows nothing of what is held since. */
    @Test
    @Tag("slow")
    void givenReleasedAndTakenAnewWhileItIsLookedFor_whenTheNextIsLost_thenTold() throws Exception {
        Lock lock = locks.createLock("x", TTL);
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.key().resource()).isEqualTo("x");
        Pause pause = new Pause();
        store.next(FIND, Fault.pausedBefore(pause));
        BackgroundCall<Boolean> looker = BackgroundCall.start(lock::isAcquired);
        pause.awaitReached();
        assertThat(lock.release()).isTrue();
        assertThat(lock.tryAcquire()).isTrue();

        pause.end();

        assertThat(looker.result()).isTrue();
        assertThat(lock.refresh(LONGER)).isSameAs(lock);
        await().until(() -> lock.remainingLifetime().orElseThrow().isZero());
        assertLost(LossReason.EXPIRED, lock::tryAcquire);
    }

    /** The renewer has no call to throw it. */
    @Test
    void givenTheRenewerFindsALoss_whenClosedOrAcquired_thenThrown() {
        Lock closed = locks.lock("x").ttl(SHORT).autoRefresh().create();
        Lock acquired = locks.lock("y").ttl(SHORT).autoRefresh().create();
        for (Lock lock : List.of(closed, acquired)) {
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(memory.delete(lock.key())).isTrue();
            await().until(() -> lock.remainingLifetime().orElseThrow().isZero());
        }

        assertLost(LossReason.EXPIRED, acquired::tryAcquire);
        assertLost(LossReason.EXPIRED, () -> {
            closed.close();
            return true;
        });
    }

    /** C5: a short turn of another thread is waited for, also by who does not wait for rivals. */
    @Test
    void givenAShortTurnOfAnotherThread_whenAcquiredWithoutWaiting_thenTheStoreIsAsked() throws Exception {
        Lock lock = locks.createLock("x", TTL);
        Pause pause = new Pause();
        store.next(SAVE, Fault.pausedBefore(pause));
        BackgroundCall<Boolean> first = BackgroundCall.start(lock::tryAcquire);
        pause.awaitReached();
        BackgroundCall<Lock> second = BackgroundCall.start(() -> lock.acquire(Duration.ZERO));
        second.awaitWaiting();

        pause.end();

        assertThat(second.result()).isSameAs(lock);
        assertThat(first.result()).isTrue();
    }

    /** C8 */
    @Test
    void givenEachWayNotToGetIt_whenAcquired_thenTheReasonSaysWhich() throws Exception {
        Lock lock = locks.createLock("x", TTL);
        Lock rival = locks.createLock("x", TTL);
        assertThat(rival.tryAcquire()).isTrue();
        assertConflict(Reason.HELD_BY_ANOTHER, () -> lock.acquire(Duration.ofMillis(20)));
        BackgroundCall<Lock> waiter = BackgroundCall.start(lock::acquire);
        waiter.awaitWaiting();
        assertConflict(Reason.BUSY, () -> lock.acquire(Duration.ofMillis(20)));
        assertThat(lock.release()).isFalse();
        assertConflict(Reason.CLOSED_WHILE_WAITING, waiter::result);
        store.next(FaultyStore.Operation.SAVE, Fault.late(TTL), Fault.late(TTL));
        assertThat(rival.release()).isTrue();
        assertConflict(Reason.GRANTED_TOO_LATE, () -> lock.acquire(Duration.ZERO));
        assertThat(lock.tryAcquireShared()).isTrue();
        assertThat(rival.tryAcquireShared()).isTrue();
        BackgroundCall<Lock> promoter = BackgroundCall.start(rival::acquire);
        promoter.awaitWaiting();
        assertConflict(Reason.PROMOTION_REFUSED, lock::acquire);
        assertThat(lock.release()).isTrue();
        assertThat(promoter.result().fencingToken()).isPresent();
    }

    @Test
    void givenInterrupted_whenAcquiredUninterruptibly_thenHeldAndTheFlagKept() throws Exception {
        Lock rival = locks.createLock("x", TTL);
        assertThat(rival.tryAcquire()).isTrue();
        Lock lock = locks.createLock("x", TTL);
        BackgroundCall<Boolean> waiter = BackgroundCall.start(() -> {
            lock.acquireUninterruptibly();
            return Thread.currentThread().isInterrupted();
        });
        waiter.awaitWaiting();
        waiter.interrupt();

        assertThat(rival.release()).isTrue();

        assertThat(waiter.result()).isTrue();
        assertThat(lock.isAcquired()).isTrue();
    }

    /** C7: who only looks at a key must not release it for its holder. */
    @Test
    void givenAReceivedKey_whenTheFactoryIsClosed_thenHeldStillUnlessAskedFor() {
        Lock holder = locks.createLock("x", TTL);
        assertThat(holder.tryAcquire()).isTrue();
        try (LockFactory others = new LockFactory(store)) {
            assertThat(others.lock(holder.key()).ttl(TTL).create().isAcquired()).isTrue();
        }
        assertThat(holder.isAcquired()).isTrue();
        try (LockFactory others = new LockFactory(store)) {
            assertThat(others.lock(holder.key()).ttl(TTL).autoRelease().create().isAcquired())
                    .isTrue();
        }
        assertThat(holder.isAcquired()).isFalse();
    }

    /** C1 */
    @Test
    void givenWithoutAutoRelease_whenCloseMeetsARenewal_thenHeldStill() throws Exception {
        LockFactory factory = new LockFactory(store);
        Lock lock = factory.lock("x").ttl(TTL).withoutAutoRelease().create();
        assertThat(lock.tryAcquire()).isTrue();
        Pause pause = new Pause();
        store.next(SAVE, Fault.pausedBefore(pause));
        BackgroundCall<Boolean> renewal = BackgroundCall.start(lock::tryAcquire);
        pause.awaitReached();
        BackgroundCall<Boolean> close = BackgroundCall.start(() -> {
            factory.close();
            return true;
        });
        close.awaitWaiting();

        pause.end();

        assertThat(renewal.result()).isTrue();
        assertThat(close.result()).isTrue();
        assertThat(memory.find(lock.key())).isPresent();
        assertThat(store.operations()).doesNotContain(DELETE);
    }

    /** C6: what listens may refer to the Lock. */
    @Test
    void givenAListenerThatRefersToTheLock_whenReleased_thenBothCanBeCollected() {
        WeakReference<Job> job = finishedJob();

        await().atMost(TimeLimits.LIMIT).until(() -> {
            System.gc();
            return job.get() == null;
        });
    }

    private WeakReference<Job> finishedJob() {
        Job job = new Job(locks);
        assertThat(job.lock.tryAcquire()).isTrue();
        assertThat(job.lock.release()).isTrue();
        return new WeakReference<>(job);
    }

    private static final class Job {

        private final Lock lock;
        private final List<LossReason> seen = new CopyOnWriteArrayList<>();

        Job(LockFactory locks) {
            this.lock =
                    locks.lock("job").ttl(TTL).autoRefresh().onLost(seen::add).create();
            lock.onLost(reason -> seen.add(lock.isExpired() ? reason : LossReason.TAKEN_OVER));
        }
    }

    /** B10: what an interrupt sets off may take as long as it likes. */
    @Test
    void givenAnInterruptThatTakesLong_whenAnotherLeaseEnds_thenItsAlarmIsInTime() throws Exception {
        Pause slow = new Pause();
        Lock first = locks.lock("x").ttl(SHORT).interruptOnLoss().create();
        BackgroundCall<Boolean> worker = BackgroundCall.start(() -> {
            assertThat(first.tryAcquire()).isTrue();
            new SlowToClose(slow).work();
            return Thread.interrupted();
        });
        slow.awaitReached();
        Lock second = locks.lock("y").ttl(SHORT).onLost(losses::add).create();

        assertThat(second.tryAcquire()).isTrue();

        await().atMost(TimeLimits.LIMIT).until(() -> !losses.isEmpty());
        slow.end();
        assertThat(worker.result()).isTrue();
    }

    /** What the interrupt sets off took so long that nobody was left then to tell the store, which keeps it for ever. */
    @Test
    void givenAnInterruptThatTakesLong_whenTheFactoryIsClosedMeanwhile_thenWhatIsOverIsEndedInTheStore()
            throws Exception {
        Pause slow = new Pause();
        LockFactory endless = new LockFactory(new StayingTheOwnerTest.Endless(memory, List.of()));
        Lock lock = endless.lock("x")
                .maxHold(SHORT)
                .interruptOnLoss()
                .onLost(losses::add)
                .create();
        BackgroundCall<Boolean> worker = BackgroundCall.start(() -> {
            assertThat(lock.tryAcquire()).isTrue();
            new SlowToClose(slow).work();
            return Thread.interrupted();
        });
        slow.awaitReached();
        Thread close = new Thread(endless::close);
        close.start();
        await().until(() -> close.getState() == Thread.State.BLOCKED || !close.isAlive());

        slow.end();

        close.join();
        assertThat(worker.result()).isTrue();
        assertThat(memory.holders("x")).isEmpty();
    }

    /** Closed by whoever interrupts the thread that works with it, as a channel of files or sockets. */
    private static final class SlowToClose extends AbstractInterruptibleChannel {

        private final Pause slow;
        private final Pause never = new Pause();

        SlowToClose(Pause slow) {
            this.slow = slow;
        }

        void work() {
            begin();
            never.pass();
        }

        @Override
        protected void implCloseChannel() {
            never.end();
            slow.pass();
        }
    }

    @Test
    void givenStores_whenAskedWhatTheyCanDo_thenToldBeforeItIsNeeded() {
        assertThat(Capability.values())
                .filteredOn(locks::supports)
                .containsExactly(
                        Capability.LEASES,
                        Capability.SHARING,
                        Capability.HOLDERS,
                        Capability.LISTING,
                        Capability.WAITERS,
                        Capability.FORCE_RELEASE,
                        Capability.SEMAPHORES,
                        Capability.STICKY);
    }

    @Test
    void givenAMinHoldOfItsOwn_whenReleasedSooner_thenKeptFromOthersForThatLong() {
        Lock lock = locks.createLock("x", TTL);
        assertThat(lock.tryAcquire()).isTrue();

        lock.refresh(TTL, TTL);

        assertThat(lock.release()).isTrue();
        assertThat(locks.createLock("x").tryAcquire()).isFalse();
    }

    @Test
    void givenAMinHold_whenReplacedByNone_thenFreeAtOnce() {
        Lock lock = locks.lock("x").ttl(TTL).minHold(TTL).create();
        assertThat(lock.tryAcquire()).isTrue();

        lock.refresh(TTL, Duration.ZERO);

        assertThat(lock.release()).isTrue();
        assertThat(locks.createLock("x").tryAcquire()).isTrue();
    }

    private static void assertLost(LossReason reason, Callable<?> call) {
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(call::call)
                .satisfies(e -> assertThat(e.reason()).isEqualTo(reason));
    }

    private static void assertConflict(Reason reason, Callable<?> call) {
        assertThatExceptionOfType(LockConflictedException.class)
                .isThrownBy(call::call)
                .satisfies(e -> assertThat(e.reason()).isEqualTo(reason));
    }
}
