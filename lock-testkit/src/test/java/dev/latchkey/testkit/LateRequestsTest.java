package dev.latchkey.testkit;

import static dev.latchkey.testkit.FaultyStore.Operation.DELETE;
import static dev.latchkey.testkit.FaultyStore.Operation.FIND;
import static dev.latchkey.testkit.FaultyStore.Operation.REFRESH;
import static dev.latchkey.testkit.FaultyStore.Operation.SAVE;
import static dev.latchkey.testkit.FaultyStore.Operation.WAIT_AND_SAVE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.store.InMemoryStore;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests that come to the store late, and answers and losses that cross. */
class LateRequestsTest {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final Duration SHORT = TimeLimits.ttl(Duration.ofMillis(400));

    private final InMemoryStore memory = new InMemoryStore();
    private final FaultyStore store = new FaultyStore(memory);
    private final LockFactory locks = new LockFactory(store);
    private final List<LossReason> losses = new CopyOnWriteArrayList<>();
    private final Lock lock = locks.createLock("x", TTL);

    @AfterEach
    void close() {
        store.heal();
        locks.close();
    }

    /** A request for a shared hold demotes what is exclusive when it comes. */
    @Test
    void givenASharedHoldAskedForAgainWithoutAnAnswer_whenPromoted_thenRefusedUntilReleased() {
        assertThat(lock.tryAcquireShared()).isTrue();
        store.next(SAVE, Fault.unreachable());
        assertThatExceptionOfType(LockStorageException.class).isThrownBy(lock::tryAcquireShared);

        assertThatExceptionOfType(LockStorageException.class)
                .isThrownBy(lock::tryAcquire)
                .withMessageContaining("may still demote this hold");

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(lock::transferKey);
        assertThat(lock.release()).isTrue();
        assertThat(lock.tryAcquire()).isTrue();
    }

    /** Whether the request that ends the lease has come to the store is not known: it may do so after the next. */
    @Test
    void givenAReceivedKeyWhoseLeaseWasEndedWithoutAnAnswer_whenAcquiredAfterThat_thenLostAndNotHeld()
            throws Exception {
        Lock received = receivedAndEndedWithoutAnAnswer();

        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(received::tryAcquire)
                .satisfies(lost -> assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED));

        // Others may have the key: the store keeps it for them.
        assertThat(received.tryAcquire()).isFalse();
        assertThat(received.isExpired()).isTrue();
    }

    @Test
    void givenAReceivedKeyWhoseLeaseWasEndedWithoutAnAnswer_whenRefreshedAfterThat_thenLost() throws Exception {
        Lock received = receivedAndEndedWithoutAnAnswer();

        assertThatExceptionOfType(LockLostException.class).isThrownBy(received::refresh);

        assertThat(received.isExpired()).isTrue();
    }

    private Lock receivedAndEndedWithoutAnAnswer() throws InterruptedException {
        assertThat(lock.tryAcquire()).isTrue();
        Lock received = locks.createLock(lock.transferKey(), TTL);
        store.next(REFRESH, Fault.unreachable());
        Lock after = locks.createLock("end of the lease", SHORT);
        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> received.refresh(SHORT));
        assertThat(after.tryAcquire()).isTrue();
        await().until(after::isExpired);
        return received;
    }

    /** The store keeps a hold longer than its holder believes in it. */
    @Test
    void givenALossThatTheStoreDoesNotKnowOf_whenTakenAnew_thenWithAGreaterFencingToken() {
        store.next(SAVE, Fault.late(TTL.minusSeconds(1)));
        assertThat(lock.tryAcquire()).isTrue();
        long first = lock.fencingToken().orElseThrow();
        await().until(lock::isExpired);

        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.fencingToken().orElseThrow()).isGreaterThan(first);
    }

    /** The process may be frozen while it asks, for the rest of what it believes, and not for the rest of the lease. */
    @Test
    void givenTheAnswerToATakeOfWhatIsHeldComesTooLate_whenTakenAnew_thenWithAGreaterFencingToken() {
        FaultyStore outer = new FaultyStore(store);
        Lock frozen = new LockFactory(outer).createLock("x", TTL);
        store.next(SAVE, Fault.late(TTL.minusSeconds(1)));
        assertThat(frozen.tryAcquire()).isTrue();
        long first = frozen.fencingToken().orElseThrow();
        store.next(SAVE, Fault.late(TTL));
        outer.next(SAVE, Fault.meanwhile(() -> {
            await().until(() -> frozen.remainingLifetime().orElseThrow().isZero());
            return true;
        }));
        assertThatExceptionOfType(LockLostException.class).isThrownBy(frozen::tryAcquire);

        assertThat(frozen.tryAcquire()).isTrue();

        assertThat(frozen.fencingToken().orElseThrow()).isGreaterThan(first);
    }

    @Test
    void givenALossThatTheStoreDoesNotKnowOf_whenTakenAnew_thenWhoWaitsComesFirst() throws Exception {
        store.next(SAVE, Fault.late(TTL.minusSeconds(1)));
        assertThat(lock.tryAcquire()).isTrue();
        BackgroundCall<Lock> rival = BackgroundCall.start(locks.createLock("x", TTL)::acquire);
        rival.awaitWaiting();
        await().until(lock::isExpired);

        assertThat(lock.tryAcquire()).isFalse();

        assertThat(rival.result().isExpired()).isFalse();
    }

    /** Who has a copy of the key may hold by it, also after this Lock has taken another key for a request without an answer. */
    @Test
    void givenACopyOfTheKey_whenLostWithARequestUnansweredAndTakenAnew_thenTheOtherHoldsStill() {
        assertThat(lock.tryAcquire()).isTrue();
        Lock other = locks.createLock(lock.key(), TTL);
        assertThat(other.isAcquired()).isTrue();
        store.next(REFRESH, Fault.unreachable());
        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> lock.refresh(SHORT));
        await().until(lock::isExpired);

        assertThat(lock.tryAcquire()).isFalse();

        assertThat(other.isAcquired()).isTrue();
    }

    /** What was not there when it was looked for may have been taken since. */
    @Test
    void givenAReceivedKey_whenTakenWhileItIsLookedFor_thenNotLost() throws Exception {
        Lock received = locks.createLock(Key.of("x"), TTL);
        Pause pause = new Pause();
        store.next(FIND, Fault.pausedAfter(pause));
        BackgroundCall<Boolean> looker = BackgroundCall.start(received::isAcquired);
        pause.awaitReached();
        assertThat(received.tryAcquire()).isTrue();

        pause.end();

        assertThat(looker.result()).isTrue();
        assertThat(received.isExpired()).isFalse();
        assertThat(received.release()).isTrue();
    }

    @Test
    void givenAReceivedKey_whenTakenWhileItIsRefreshed_thenNotLost() throws Exception {
        Lock received = locks.createLock(Key.of("x"), TTL);
        Pause pause = new Pause();
        store.next(REFRESH, Fault.pausedAfter(pause));
        BackgroundCall<Lock> refresh = BackgroundCall.start(received::refresh);
        pause.awaitReached();
        BackgroundCall<Lock> taken = BackgroundCall.start(() -> received.acquire(Duration.ofSeconds(20)));
        taken.awaitWaiting();

        pause.end();

        assertThatExceptionOfType(LockLostException.class).isThrownBy(refresh::result);
        assertThat(taken.result().isExpired()).isFalse();
        assertThat(received.release()).isTrue();
    }

    /** No interrupt comes after release(), neither for this hold nor for the one before. */
    @Test
    void givenTheLossOfOneHoldInterruptsLate_whenTheNextIsReleased_thenNotAfterIt() throws Exception {
        Lock interrupting = locks.lock("y").ttl(TTL).interruptOnLoss().create();
        Pause interrupt = new Pause();
        Pause lost = new Pause();
        CountDownLatch released = new CountDownLatch(1);
        FutureTask<Boolean> work = new FutureTask<>(() -> {
            assertThat(interrupting.tryAcquire()).isTrue();
            lost.pass();
            assertThat(interrupting.tryAcquire()).isTrue();
            assertThat(interrupting.release()).isTrue();
            boolean interrupted = Thread.interrupted();
            released.countDown();
            return interrupted;
        });
        Thread worker = new SlowToInterrupt(work, interrupt);
        worker.start();
        lost.awaitReached();
        assertThat(store.lose(interrupting.key(), LossReason.SESSION_LOST)).isTrue();
        interrupt.awaitReached();
        lost.end();
        await().until(() -> released.getCount() == 0 || worker.getState() == Thread.State.BLOCKED);

        interrupt.end();

        assertThat(work.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    /** No lease ends it in the store then: the release lets a rival in. */
    @Test
    void givenMaxHoldAndInterruptOnLoss_whenItIsOver_thenReleasedOnlyAfterTheWorkerIsInterrupted() throws Exception {
        Lock interrupting =
                locks.lock("y").ttl(TTL).maxHold(SHORT).interruptOnLoss().create();
        Pause interrupt = new Pause();
        Pause never = new Pause();
        FutureTask<Boolean> work = new FutureTask<>(() -> {
            assertThat(interrupting.tryAcquire()).isTrue();
            never.pass();
            return true;
        });
        new SlowToInterrupt(work, interrupt).start();
        interrupt.awaitReached();

        await().during(SHORT).until(() -> !store.operations().contains(DELETE));

        interrupt.end();
        await().until(() -> store.operations().contains(DELETE));
    }

    private static final class SlowToInterrupt extends Thread {

        private final Pause pause;

        SlowToInterrupt(Runnable task, Pause pause) {
            super(task);
            this.pause = pause;
        }

        @Override
        public void interrupt() {
            pause.pass();
            super.interrupt();
        }
    }

    /** What writes the log may be stuck. */
    @Test
    @Tag("slow")
    void givenTheLogIsStuck_whenARenewalFails_thenOthersAreRenewedAllTheSame() throws Exception {
        PrintStream before = System.err;
        Pause stuck = new Pause();
        System.setErr(new PrintStream(before, true, StandardCharsets.UTF_8) {
            @Override
            public void println(@Nullable String line) {
                super.println(line);
                if (line != null && line.contains("resource=first")) {
                    stuck.pass();
                }
            }
        });
        try {
            store.next(REFRESH, Fault.unreachable());
            Lock first = locks.lock("first").ttl(SHORT).autoRefresh().create();
            assertThat(first.tryAcquire()).isTrue();
            stuck.awaitReached();
            store.forgetCalls();
            // Renewed in time also where the renewer does not run for two seconds.
            Lock other =
                    locks.lock("y").ttl(Duration.ofSeconds(12)).autoRefresh().create();
            assertThat(other.tryAcquire()).isTrue();

            await().until(() -> other.isExpired() || renewals("y") >= 2);

            assertThat(other.isExpired()).isFalse();
        } finally {
            stuck.end();
            System.setErr(before);
        }
    }

    /** The reason is the one that was found out first. */
    @Test
    @Tag("slow")
    void givenARefreshInFlight_whenTheLeaseEndsBeforeItsAnswer_thenTheReasonThatListenersWereTold() throws Exception {
        Lock heard =
                locks.lock("x").ttl(SHORT.multipliedBy(5)).onLost(losses::add).create();
        Lock rival = locks.createLock("x", TTL);
        assertThat(heard.tryAcquire()).isTrue();
        Pause pause = new Pause();
        store.next(REFRESH, Fault.pausedBefore(pause));
        BackgroundCall<Lock> refresh = BackgroundCall.start(heard::refresh);
        pause.awaitReached();
        rival.acquire();
        await().until(() -> !losses.isEmpty());

        pause.end();

        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(refresh::result)
                .satisfies(e -> assertThat(e.reason()).isEqualTo(LossReason.EXPIRED));
        assertThat(losses).containsExactly(LossReason.EXPIRED);
    }

    /** A store may find out that a session has ended in a call of the worker, which then fails. */
    @Test
    void givenInterruptOnLoss_whenTheLossIsFoundInACallThatFails_thenThatCallTellsIt() {
        Lock interrupting = locks.lock("x").ttl(TTL).interruptOnLoss().create();
        assertThat(interrupting.tryAcquire()).isTrue();
        store.next(REFRESH, Fault.meanwhile(() -> {
            assertThat(store.lose(interrupting.key(), LossReason.SESSION_LOST)).isTrue();
            throw new LockStorageException("x", "the session has ended (a planted fault)", null);
        }));

        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(interrupting::refresh)
                .satisfies(e -> assertThat(e.reason()).isEqualTo(LossReason.SESSION_LOST));
    }

    /** As before: to look for the hold is such a call as well. */
    @Test
    void givenInterruptOnLoss_whenTheLossIsFoundInALookThatFails_thenThatCallTellsIt() {
        Lock interrupting = locks.lock("x").ttl(TTL).interruptOnLoss().create();
        assertThat(interrupting.tryAcquire()).isTrue();
        store.next(FIND, Fault.meanwhile(() -> {
            assertThat(store.lose(interrupting.key(), LossReason.SESSION_LOST)).isTrue();
            throw new LockStorageException("x", "the session has ended (a planted fault)", null);
        }));

        assertThat(interrupting.isAcquired()).isFalse();
    }

    /** That another reader is in the way does not say that the shared hold is gone. */
    @Test
    void givenInterruptOnLoss_whenTheLossIsFoundInAPromotionThatIsRefused_thenThatCallTellsIt() {
        Lock interrupting = locks.lock("x").ttl(TTL).interruptOnLoss().create();
        assertThat(interrupting.tryAcquireShared()).isTrue();
        assertThat(locks.createLock("x", TTL).tryAcquireShared()).isTrue();
        store.next(SAVE, Fault.meanwhile(() -> store.lose(interrupting.key(), LossReason.SESSION_LOST)));

        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(interrupting::tryAcquire)
                .satisfies(e -> assertThat(e.reason()).isEqualTo(LossReason.SESSION_LOST));
    }

    /** The caller of an interrupted wait may count on what was held before it. */
    @Test
    void givenInterruptOnLoss_whenTheLossIsFoundInAWaitThatIsInterrupted_thenToldOfBoth() {
        try (LockFactory polling = new LockFactory(new PollingStore(store))) {
            Lock interrupting = polling.lock("x").ttl(TTL).interruptOnLoss().create();
            assertThat(interrupting.tryAcquireShared()).isTrue();
            assertThat(locks.createLock("x", TTL).tryAcquireShared()).isTrue();
            store.next(SAVE, Fault.meanwhile(() -> {
                Thread.currentThread().interrupt();
                return store.lose(interrupting.key(), LossReason.SESSION_LOST);
            }));

            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(() -> interrupting.acquire(TTL))
                    .satisfies(e -> assertThat(e.reason()).isEqualTo(LossReason.SESSION_LOST));
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    /** Each grant is given back, and asked for again: that must end when its caller is interrupted. */
    @Test
    void givenAGrantThatCameTooLate_whenInterruptedMeanwhile_thenThrownAndNotAskedAgain() {
        FaultyStore outer = new FaultyStore(store);
        Lock interrupted = new LockFactory(outer).createLock("x", TTL);
        store.next(SAVE, Fault.late(TTL));
        outer.next(SAVE, Fault.meanwhile(() -> {
            Thread.currentThread().interrupt();
            return true;
        }));

        assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> interrupted.acquire(Duration.ZERO));

        assertThat(interrupted.isExpired()).isFalse();
        assertThat(locks.createLock("x", TTL).tryAcquire()).isTrue();
    }

    @Test
    void givenATtlShorterThanTheStoreTakesToAnswer_whenAcquired_thenWarnedOnce() throws Exception {
        PrintStream before = System.err;
        List<String> warnings = new CopyOnWriteArrayList<>();
        System.setErr(new PrintStream(before, true, StandardCharsets.UTF_8) {
            @Override
            public void println(@Nullable String line) {
                super.println(line);
                if (line != null && line.contains("lock.granted_too_late resource=x")) {
                    warnings.add(line);
                }
            }
        });
        try {
            store.next(WAIT_AND_SAVE, Fault.late(TTL), Fault.late(TTL), Fault.late(TTL), Fault.late(TTL));

            assertThat(lock.acquire().isExpired()).isFalse();
        } finally {
            System.setErr(before);
        }
        assertThat(warnings).hasSize(1);
    }

    /** The promotion may be undone yet, and others share the lock then: who was given a shared hold counts on no more. */
    @Test
    void givenAKeyReceivedAsShared_whenPromotedByTheOtherOwner_thenNotBelievedToBeExclusive() throws Exception {
        Lock reader = lock.acquireShared();
        Lock received = locks.createLock(reader.key(), TTL);
        assertThat(reader.tryAcquire()).isTrue();

        assertThat(received.isAcquired()).isTrue();

        assertThat(received.fencingToken()).isEmpty();
    }

    @Test
    void givenAKeyReceivedAsShared_whenItSharesAfterAPromotionByTheOtherOwner_thenNotBelievedToBeExclusive()
            throws Exception {
        Lock reader = lock.acquireShared();
        Lock received = locks.createLock(reader.key(), TTL);
        assertThat(reader.tryAcquire()).isTrue();

        assertThat(received.tryAcquireShared()).isTrue();
        assertThat(received.fencingToken()).isEmpty();
        assertThat(received.tryAcquireShared()).isTrue();
        assertThat(received.fencingToken()).isEmpty();

        assertThat(received.tryAcquire()).isTrue();
        assertThat(received.fencingToken()).isEqualTo(reader.fencingToken());
    }

    /** Such a wait gives nothing up: the key held nothing. */
    @Test
    void givenAReceivedKeyThatHoldsNothing_whenAWaitToShareIsInterrupted_thenItMayBeTakenExclusively()
            throws Exception {
        assertThat(lock.tryAcquire()).isTrue();
        Lock received = locks.createLock(Key.of("x"), TTL);
        BackgroundCall<Lock> waiting = BackgroundCall.start(received::acquireShared);
        waiting.awaitWaiting();
        waiting.interrupt();
        assertThatExceptionOfType(InterruptedException.class).isThrownBy(waiting::result);
        assertThat(lock.release()).isTrue();

        assertThat(received.tryAcquire()).isTrue();
    }

    @Test
    void givenALossThatNobodyWasToldOf_whenAListenerIsToldLate_thenTakenAnew() {
        store.next(SAVE, Fault.late(TTL.minusSeconds(1)));
        assertThat(lock.tryAcquire()).isTrue();
        await().until(() -> lock.remainingLifetime().orElseThrow().isZero());

        lock.onLost(losses::add);
        await().until(() -> !losses.isEmpty());

        assertThat(lock.tryAcquire()).isTrue();
    }

    private long renewals(String resource) {
        return store.calls().stream()
                .filter(call ->
                        call.operation() == REFRESH && call.key().resource().equals(resource))
                .count();
    }
}
