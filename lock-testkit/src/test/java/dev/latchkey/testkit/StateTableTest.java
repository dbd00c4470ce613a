package dev.latchkey.testkit;

import static dev.latchkey.testkit.FaultyStore.Operation.DELETE;
import static dev.latchkey.testkit.FaultyStore.Operation.FIND;
import static dev.latchkey.testkit.FaultyStore.Operation.REFRESH;
import static dev.latchkey.testkit.FaultyStore.Operation.SAVE;
import static dev.latchkey.testkit.FaultyStore.Operation.WAIT_AND_SAVE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every row of the state table of a Lock, in its order. */
class StateTableTest {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final Duration LATE = TTL.plusSeconds(1);

    /** Renewed in time also where the renewer does not run for two seconds. */
    private static final Duration RENEWED = TimeLimits.ttl(Duration.ofSeconds(5));

    private static final String RESOURCE = "orders";

    private final InMemoryStore memory = new InMemoryStore();
    private final FaultyStore store = new FaultyStore(memory);
    private final LockFactory locks = new LockFactory(store);
    private final List<LossReason> losses = new CopyOnWriteArrayList<>();
    private final Lock lock = locks.lock(RESOURCE).ttl(TTL).onLost(losses::add).create();
    private final Lock rival = locks.createLock(RESOURCE, TTL);
    private final Lock lostBefore = locks.createLock("lost before", TTL);

    @BeforeEach
    void loseOne() {
        assertThat(lostBefore.tryAcquire()).isTrue();
        assertThat(store.lose(lostBefore.key(), LossReason.SESSION_LOST)).isTrue();
        store.forgetCalls();
    }

    @AfterEach
    void close() {
        store.heal();
        locks.close();
    }

    @Nested
    @DisplayName("FREE")
    class Free {

        @Test
        void whenGranted_thenHeldThroughOneSaveWithTheBareKey() {
            assertThat(lock.tryAcquire()).isTrue();

            assertThat(store.operations()).containsExactly(SAVE);
            assertThat(store.calls().get(0).key().held()).isEmpty();
            assertHeld(LockMode.EXCLUSIVE);
        }

        @Test
        void whenGrantedShared_thenHeldSharedWithoutFencingToken() {
            assertThat(lock.tryAcquireShared()).isTrue();

            assertHeld(LockMode.SHARED);
            assertThat(lock.fencingToken()).isEmpty();
        }

        @Test
        void whenWaitingIsAllowed_thenOneWaitAndSaveAndNoSave() throws Exception {
            lock.acquire();

            assertThat(store.operations()).containsExactly(WAIT_AND_SAVE);
        }

        @Test
        void whenGrantedButOverTwice_thenGivenBackAndFalse() {
            Key before = lock.key();
            store.next(SAVE, Fault.late(LATE), Fault.late(LATE));

            assertThat(lock.tryAcquire()).isFalse();

            assertThat(store.operations()).containsExactly(SAVE, DELETE, SAVE, DELETE);
            assertFreeWithAnotherKeyThan(before);
            assertThat(losses).isEmpty();
        }

        @Test
        void whenGrantedButOverWhileWaiting_thenGivenBackAndTriedAgain() throws Exception {
            Key before = lock.key();
            store.next(WAIT_AND_SAVE, Fault.late(LATE));

            lock.acquire();

            assertThat(store.operations()).containsExactly(WAIT_AND_SAVE, DELETE, WAIT_AND_SAVE);
            assertHeld(LockMode.EXCLUSIVE);
            assertThat(lock.key()).isNotEqualTo(before);
        }

        @Test
        void whenConflicted_thenFalseAndNothingElseAsked() {
            assertThat(rival.tryAcquire()).isTrue();
            store.forgetCalls();

            assertThat(lock.tryAcquire()).isFalse();

            assertThat(store.operations()).containsExactly(SAVE);
            assertThat(lock.isExpired()).isFalse();
            assertThat(losses).isEmpty();
        }

        @Test
        void whenConflictedUntilMaxWaitIsOver_thenConflictSaysHowLong() {
            assertThat(rival.tryAcquire()).isTrue();

            assertThatExceptionOfType(LockConflictedException.class)
                    .isThrownBy(() -> lock.acquire(Duration.ofMillis(20)))
                    .withMessage("lock \"orders\": another key still held it after PT0.02S");
        }

        @Test
        void whenNoAnswer_thenOneDeleteAndAnotherKey() {
            Key before = lock.key();
            store.next(SAVE, Fault.replyLost());

            assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> lock.tryAcquire());

            assertThat(store.operations()).containsExactly(SAVE, DELETE);
            assertFreeWithAnotherKeyThan(before);
            assertThat(rival.tryAcquire()).isTrue();
        }

        @Test
        void whenNoAnswerAndNoneToTheDeleteEither_thenTheFirstFailureIsThrownAndTheKeyIsAnother() {
            Key before = lock.key();
            store.next(SAVE, Fault.replyLost()).next(DELETE, Fault.unreachable());

            assertThatExceptionOfType(LockStorageException.class)
                    .isThrownBy(() -> lock.tryAcquire())
                    .withMessageContaining("no answer")
                    .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));

            assertThat(store.operations()).containsExactly(SAVE, DELETE);
            assertFreeWithAnotherKeyThan(before);
        }

        @Test
        void whenNoAnswerWhileInterrupted_thenStillGivenBackAndTheFlagKept() {
            store.next(SAVE, Fault.replyLost());
            Thread.currentThread().interrupt();

            assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> lock.tryAcquire());

            assertThat(Thread.interrupted()).isTrue();
            assertThat(store.operations()).containsExactly(SAVE, DELETE);
        }

        @Test
        void whenReleased_thenFalseWithoutAskingTheStore() {
            assertThat(lock.release()).isFalse();
            lock.close();

            assertThat(store.operations()).isEmpty();
        }

        @Test
        void whenRefreshed_thenAnErrorThatSaysWhatToDo() {
            assertThatIllegalStateException()
                    .isThrownBy(lock::refresh)
                    .withMessageContaining("cannot be refreshed")
                    .withMessageContaining("acquire it first");
            assertThat(store.operations()).isEmpty();
        }

        @Test
        void whenHandedOver_thenAnErrorThatSaysWhy() {
            assertThatIllegalStateException()
                    .isThrownBy(lock::transferKey)
                    .withMessageContaining("nothing to transfer");
        }
    }

    @Nested
    @DisplayName("WAITING")
    class Waiting {

        @Test
        void whenInterrupted_thenAsBeforeTheCall() throws Exception {
            Key before = lock.key();
            BackgroundCall<Lock> waiter = waiter();

            waiter.interrupt();

            assertThatExceptionOfType(InterruptedException.class).isThrownBy(waiter::result);
            assertThat(lock.key()).isEqualTo(before);
            assertThat(rival.release()).isTrue();
            assertThat(lock.isAcquired()).isFalse();
            assertThat(rival.tryAcquire()).isTrue();
        }

        @Test
        void whenClosedElsewhere_thenTheWaiterIsToldAndNothingIsLeft() throws Exception {
            BackgroundCall<Lock> waiter = waiter();

            lock.close();

            assertThatExceptionOfType(LockConflictedException.class)
                    .isThrownBy(waiter::result)
                    .withMessageContaining("closed while waiting");
            rival.release();
            assertThat(rival.tryAcquire()).isTrue();
        }

        @Test
        void whenReleasedElsewhere_thenTheWaiterIsTold() throws Exception {
            BackgroundCall<Lock> waiter = waiter();

            assertThat(lock.release()).isFalse();

            assertThatExceptionOfType(LockConflictedException.class).isThrownBy(waiter::result);
        }

        @Test
        void whenClosedBeforeTheStoreIsReached_thenTheWaiterIsToldAllTheSame() throws Exception {
            assertThat(rival.tryAcquire()).isTrue();
            Pause pause = new Pause();
            store.next(WAIT_AND_SAVE, Fault.pausedBefore(pause));
            BackgroundCall<Lock> waiter = BackgroundCall.start(lock::acquire);
            pause.awaitReached();
            BackgroundCall<Boolean> release = BackgroundCall.start(lock::release);
            release.awaitWaiting();

            pause.end();

            assertThatExceptionOfType(LockConflictedException.class).isThrownBy(waiter::result);
            assertThat(release.result()).isFalse();
        }

        @Test
        void whenTheFactoryIsClosed_thenTheWaiterIsTold() throws Exception {
            BackgroundCall<Lock> waiter = waiter();

            locks.close();

            assertThatExceptionOfType(LockConflictedException.class).isThrownBy(waiter::result);
        }

        /** That a wait of its own finds out that its last lease is over must not hide the wait. */
        @Test
        void whenItsLastLeaseEndedUnnoticed_thenTheWaiterIsToldAllTheSame() throws Exception {
            Lock unheard = locks.createLock(RESOURCE, Duration.ofMillis(50));
            assertThat(unheard.tryAcquire()).isTrue();
            try (LockFactory others = new LockFactory(store)) {
                others.createLock(RESOURCE, Duration.ofHours(1)).acquire();
                assertThat(unheard.isExpired()).isTrue();
                BackgroundCall<Lock> waiter = BackgroundCall.start(unheard::acquire);
                waiter.awaitWaiting();

                locks.close();

                assertThatExceptionOfType(LockConflictedException.class).isThrownBy(waiter::result);
            }
        }

        @Test
        void whenTriedFromAnotherThread_thenFalseAtOnce() throws Exception {
            BackgroundCall<Lock> waiter = waiter();
            store.forgetCalls();

            assertThat(lock.tryAcquire()).isFalse();

            assertThat(store.operations()).isEmpty();
            rival.release();
            assertThat(waiter.result()).isSameAs(lock);
        }

        @Test
        void whenAnotherThreadAcquiresToo_thenBothHaveTheOneHold() throws Exception {
            BackgroundCall<Lock> first = waiter();
            BackgroundCall<Lock> second = BackgroundCall.start(lock::acquire);
            second.awaitWaiting();

            rival.release();

            assertThat(first.result()).isSameAs(lock);
            assertThat(second.result()).isSameAs(lock);
            assertThat(lock.release()).isTrue();
            assertThat(rival.tryAcquire()).isTrue();
        }

        private BackgroundCall<Lock> waiter() {
            assertThat(rival.tryAcquire()).isTrue();
            BackgroundCall<Lock> waiter = BackgroundCall.start(lock::acquire);
            waiter.awaitWaiting();
            return waiter;
        }
    }

    @Nested
    @DisplayName("held, and acquired again")
    class AcquiredAgain {

        @Test
        void whenExclusiveAgain_thenRenewedWithTheSameToken() {
            long token = acquired();
            Duration left = remainingAfterSomeTime();

            assertThat(lock.tryAcquire()).isTrue();

            assertThat(store.operations()).containsExactly(SAVE, SAVE);
            assertThat(store.calls().get(1).key().held())
                    .contains(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(token)));
            assertThat(lock.fencingToken()).hasValue(token);
            assertThat(remaining()).isGreaterThan(left);
        }

        @Test
        void whenSharedAgain_thenRenewedAndSharedStill() throws Exception {
            assertThat(lock.tryAcquireShared()).isTrue();
            store.forgetCalls();

            lock.acquireShared();

            assertThat(store.operations()).containsExactly(SAVE);
            assertHeld(LockMode.SHARED);
            assertThat(rival.tryAcquireShared()).isTrue();
        }

        @Test
        void whenWaitingIsAllowed_thenStillOneSaveBecauseAHolderWaitsForNobody() throws Exception {
            acquired();

            lock.acquire();

            assertThat(store.operations()).containsExactly(SAVE, SAVE);
        }

        @Test
        void whenAcquiredTwice_thenOneReleaseEndsIt() {
            acquired();
            assertThat(lock.tryAcquire()).isTrue();

            assertThat(lock.release()).isTrue();

            assertThat(rival.tryAcquire()).isTrue();
        }

        @Test
        void whenPromoted_thenExclusiveWithANewToken() {
            long before = tokenOfAnEarlierHold();
            assertThat(lock.tryAcquireShared()).isTrue();

            assertThat(lock.tryAcquire()).isTrue();

            assertHeld(LockMode.EXCLUSIVE);
            assertThat(lock.fencingToken().getAsLong()).isGreaterThan(before);
        }

        @Test
        void whenPromotionConflicts_thenSharedAsBefore() {
            assertThat(lock.tryAcquireShared()).isTrue();
            assertThat(rival.tryAcquireShared()).isTrue();

            assertThat(lock.tryAcquire()).isFalse();

            assertHeld(LockMode.SHARED);
            assertThat(lock.isAcquired()).isTrue();
            assertThat(losses).isEmpty();
        }

        @Test
        void whenPromotionIsRefused_thenConflictThatSaysWhyAndSharedAsBefore() throws Exception {
            assertThat(lock.tryAcquireShared()).isTrue();
            assertThat(rival.tryAcquireShared()).isTrue();
            BackgroundCall<Lock> first = BackgroundCall.start(rival::acquire);
            first.awaitWaiting();

            assertThatExceptionOfType(LockConflictedException.class)
                    .isThrownBy(lock::acquire)
                    .withMessageContaining("another reader already waits for promotion");

            assertHeld(LockMode.SHARED);
            assertThat(lock.release()).isTrue();
            assertThat(first.result().fencingToken()).isPresent();
        }

        @Test
        void whenPromotionIsInterrupted_thenSharedAsBefore() throws Exception {
            assertThat(lock.tryAcquireShared()).isTrue();
            assertThat(rival.tryAcquireShared()).isTrue();
            BackgroundCall<Lock> promoter = BackgroundCall.start(lock::acquire);
            promoter.awaitWaiting();

            promoter.interrupt();

            assertThatExceptionOfType(InterruptedException.class).isThrownBy(promoter::result);
            assertHeld(LockMode.SHARED);
            assertThat(lock.isAcquired()).isTrue();
        }

        @Test
        void whenPromotionHasNoAnswer_thenSharedAndNothingDeletedAndAskingAgainSettlesIt() {
            assertThat(lock.tryAcquireShared()).isTrue();
            Key before = lock.key();
            store.next(SAVE, Fault.replyLost());
            store.forgetCalls();

            assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> lock.tryAcquire());

            assertThat(store.operations()).containsExactly(SAVE);
            assertHeld(LockMode.SHARED);
            assertThat(lock.key()).isEqualTo(before);
            assertThat(lock.tryAcquire()).isTrue();
            assertHeld(LockMode.EXCLUSIVE);
        }

        @Test
        void whenDemoted_thenSharedWithoutTokenAndOthersMayRead() {
            acquired();

            assertThat(lock.tryAcquireShared()).isTrue();

            assertHeld(LockMode.SHARED);
            assertThat(lock.fencingToken()).isEmpty();
            assertThat(rival.tryAcquireShared()).isTrue();
        }

        @Test
        void whenDemotionHasNoAnswer_thenOnlySharedIsBelieved() {
            acquired();
            store.next(SAVE, Fault.replyLost());
            store.forgetCalls();

            assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> lock.tryAcquireShared());

            assertThat(store.operations()).containsExactly(SAVE);
            assertHeld(LockMode.SHARED);
            assertThat(lock.fencingToken()).isEmpty();
        }

        @Test
        void whenTheStoreSaysLost_thenFreeAndThrownAndTheListenerToldOnce() {
            acquired();
            store.next(SAVE, Fault.lost(LossReason.TAKEN_OVER));

            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(() -> lock.tryAcquire())
                    .satisfies(e -> assertThat(e.reason()).isEqualTo(LossReason.TAKEN_OVER));

            assertFree();
            assertLostOnce(LossReason.TAKEN_OVER);
        }

        @Test
        void whenAPromotionFindsThatTheSharedHoldWasLost_thenNothingIsTakenInItsPlace() {
            assertThat(lock.tryAcquireShared()).isTrue();
            releaseElsewhere(lock);

            assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> lock.tryAcquire());

            assertThat(rival.tryAcquire()).isTrue();
        }

        @Test
        void whenLostAndAcquiredAnew_thenAFreshHold() {
            long before = acquired();
            store.lose(lock.key(), LossReason.SESSION_LOST);
            assertLostOnce(LossReason.SESSION_LOST);
            releaseElsewhere(lock);

            assertThat(lock.tryAcquire()).isTrue();

            assertThat(lock.fencingToken().getAsLong()).isGreaterThan(before);
            assertThat(lock.isExpired()).isFalse();
        }
    }

    @Nested
    @DisplayName("held, and lost")
    class Lost {

        @Test
        void whenTheStoreReportsIt_thenFreeAndExpiredAndTheListenerToldOnce() {
            acquired();

            store.lose(lock.key(), LossReason.SESSION_LOST);

            assertLostOnce(LossReason.SESSION_LOST);
            assertFree();
            assertThat(lock.isExpired()).isTrue();
        }

        /** That nobody answers says nothing about who holds it. */
        @Test
        void whenAskedAndNoAnswer_thenStorageFailureAndHeldStill() {
            acquired();
            store.next(FIND, Fault.unreachable());

            assertThatExceptionOfType(LockStorageException.class).isThrownBy(lock::isAcquired);

            assertHeld(LockMode.EXCLUSIVE);
            assertThat(lock.isAcquired()).isTrue();
        }

        @Test
        void whenTheReportIsAboutAnEarlierHold_thenTheLaterOneStands() {
            CompletableFuture<LossReason> earlier = new CompletableFuture<>();
            store.next(SAVE, Fault.answering(grantThatEndsWith(earlier)));
            acquired();
            lock.transferKey();
            acquired();

            earlier.complete(LossReason.SESSION_LOST);

            awaitNotifierHasCaughtUp();
            assertHeld(LockMode.EXCLUSIVE);
            assertThat(losses).isEmpty();
        }

        /** A process that was frozen goes on with all threads at once: none of the store has come to report the loss yet. */
        @Test
        void whenTheSessionMayBeOver_thenWhoLooksIsToldAndTheStoreIsNotLeftWithIt() {
            AtomicBoolean lives = new AtomicBoolean(true);
            Lease lease = Lease.session(new CompletableFuture<>(), lives::get);
            store.next(SAVE, Fault.answering(new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.of(1), lease)));
            acquired();

            lives.set(false);

            assertThat(lock.isExpired()).isTrue();
            assertThat(lock.remainingLifetime()).contains(Duration.ZERO);
            assertThat(lock.isAcquired()).isFalse();
            assertLostOnce(LossReason.SESSION_LOST);
            await().untilAsserted(() -> assertThat(store.operations()).containsExactly(SAVE, DELETE));
        }

        /** They may have acquired anew with it meanwhile, and nobody would tell them of a release. */
        @Test
        void whenTheSessionMayBeOverAndOthersKnowTheKey_thenNothingIsTakenFromThem() {
            AtomicBoolean lives = new AtomicBoolean(true);
            Lease lease = Lease.session(new CompletableFuture<>(), lives::get);
            Response.Granted inSession = new Response.Granted(LockMode.SHARED, OptionalLong.empty(), lease);
            store.next(SAVE, Fault.answering(inSession));
            assertThat(lock.tryAcquireShared()).isTrue();
            Key copied = lock.key();

            lives.set(false);
            assertThat(lock.isAcquired()).isFalse();
            assertLostOnce(LossReason.SESSION_LOST);

            await().during(Duration.ofMillis(300))
                    .untilAsserted(() -> assertThat(store.operations()).containsExactly(SAVE));
            assertThat(lock.key()).isEqualTo(copied);
        }

        /** A session of several parts lives again when one is repaired: too late for a hold that has looked over. */
        @Test
        void whenTheSessionMayBeOverForAMoment_thenLostWithItAndTheStoreIsNotLeftWithIt() {
            AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);
            Lease lease = Lease.session(new CompletableFuture<>(), () -> left.getAndDecrement() != 0);
            store.next(SAVE, Fault.answering(new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.of(1), lease)));
            acquired();

            left.set(0);

            assertThat(lock.isAcquired()).isFalse();
            assertLostOnce(LossReason.SESSION_LOST);
            await().untilAsserted(() -> assertThat(store.operations()).containsExactly(SAVE, DELETE));
        }

        /** Else nobody would be told of it, and the store be asked for what it still has as if for something new. */
        @Test
        void whenTheSessionEndsWithinAnAcquire_thenItIsToldBeforeAnythingIsTakenInItsPlace() {
            for (int looks = 0; looks < 10; looks++) {
                AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);
                Lease lease = Lease.session(new CompletableFuture<>(), () -> left.getAndDecrement() > 0);
                store.next(SAVE, Fault.answering(new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.of(1), lease)));
                Lock unheard = locks.createLock("unheard-" + looks, TTL);
                assertThat(unheard.tryAcquire()).isTrue();
                int before = store.calls().size();

                left.set(looks);

                Optional<LossReason> told = reasonOfLoss(unheard::tryAcquire);
                List<Optional<Key.Held>> claimed = store.calls().stream()
                        .skip(before)
                        .filter(call -> call.operation() == SAVE)
                        .map(call -> call.key().held())
                        .toList();
                assertThat(claimed)
                        .as("claimed when the session ends after %s looks", looks)
                        .doesNotContain(Optional.empty());
                assertThat(told).isPresent();
            }
        }

        private Optional<LossReason> reasonOfLoss(Supplier<Boolean> acquire) {
            try {
                boolean unused = acquire.get();
                return Optional.empty();
            } catch (LockLostException e) {
                return Optional.of(e.reason());
            }
        }

        private Response.Granted grantThatEndsWith(CompletableFuture<LossReason> lost) {
            Lease lease = Lease.session(lost).withTime(OptionalLong.of(System.nanoTime()), TTL);
            return new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.of(1), lease);
        }

        @Test
        void whenTheLocalDeadlineIsOver_thenExpiredAndTheListenerToldOnceAndReleaseAsksTheStore() {
            Lock brief = locks.lock("brief")
                    .ttl(Duration.ofMillis(40))
                    .onLost(losses::add)
                    .create();
            assertThat(brief.tryAcquire()).isTrue();
            // A grant that came too late was given back, and asked for again.
            store.forgetCalls();

            assertLostOnce(LossReason.EXPIRED);

            assertThat(brief.isExpired()).isTrue();
            assertThat(brief.remainingLifetime()).contains(Duration.ZERO);
            assertThat(brief.fencingToken()).isEmpty();
            assertThat(brief.release()).isFalse();
            assertThat(store.operations()).containsExactly(DELETE);
            assertThat(brief.isExpired()).isFalse();
        }

        @Test
        void whenExpiredAndTakenByAnother_thenReleaseSaysSo() {
            Lock brief = locks.createLock("brief", Duration.ofMillis(40));
            assertThat(brief.tryAcquire()).isTrue();
            Lock next = locks.createLock("brief", TTL);
            await().until(next::tryAcquire);

            assertThat(brief.isExpired()).isTrue();
            assertThat(brief.release()).isFalse();
            assertThat(next.isAcquired()).isTrue();
        }

        @Test
        void whenAListenerComesLate_thenItIsToldAtOnce() {
            acquired();
            store.lose(lock.key(), LossReason.SESSION_LOST);
            assertLostOnce(LossReason.SESSION_LOST);
            List<LossReason> late = new CopyOnWriteArrayList<>();

            lock.onLost(late::add);

            await().untilAsserted(() -> assertThat(late).containsExactly(LossReason.SESSION_LOST));
        }

        @Test
        void whenAListenerFails_thenTheOthersAreToldAllTheSame() {
            acquired();
            lock.onLost(reason -> {
                throw new IllegalStateException("planted");
            });
            List<LossReason> others = new CopyOnWriteArrayList<>();
            lock.onLost(others::add);

            store.lose(lock.key(), LossReason.SESSION_LOST);

            await().untilAsserted(() -> assertThat(others).containsExactly(LossReason.SESSION_LOST));
        }

        @Test
        void whenLostUnseenInTryWithResources_thenCloseThrows() {
            acquired();
            store.lose(lock.key(), LossReason.SESSION_LOST);
            assertLostOnce(LossReason.SESSION_LOST);

            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(lock::close)
                    .satisfies(e -> assertThat(e.reason()).isEqualTo(LossReason.SESSION_LOST));
        }

        @Test
        void whenACallHasThrownTheLoss_thenCloseIsSilent() {
            acquired();
            store.next(REFRESH, Fault.lost(LossReason.EXPIRED));
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::refresh);

            lock.close();

            assertFree();
        }
    }

    @Nested
    @DisplayName("held, and refreshed")
    class Refreshed {

        @Test
        void whenGranted_thenANewDeadlineAndTheSameToken() {
            long token = acquired();
            Duration left = remainingAfterSomeTime();

            assertThat(lock.refresh()).isSameAs(lock);

            assertThat(store.operations()).containsExactly(SAVE, REFRESH);
            assertThat(remaining()).isGreaterThan(left);
            assertThat(lock.fencingToken()).hasValue(token);
        }

        @Test
        void whenTheTtlIsGiven_thenItCountsOnce() {
            acquired();

            lock.refresh(Duration.ofMinutes(10));
            assertThat(remaining()).isGreaterThan(Duration.ofSeconds(500));

            lock.refresh();
            assertThat(remaining()).isLessThan(TTL);
        }

        @Test
        void whenTheAnswerCrossesAPromotion_thenThePromotionIsBelieved() {
            assertThat(lock.tryAcquireShared()).isTrue();
            store.next(REFRESH, Fault.meanwhile(lock::tryAcquire));

            lock.refresh();

            assertHeld(LockMode.EXCLUSIVE);
            assertThat(lock.fencingToken()).isPresent();
        }

        @Test
        void whenTheAnswerCrossesADemotion_thenNoMoreThanSharedIsBelieved() {
            acquired();
            store.next(REFRESH, Fault.meanwhile(lock::tryAcquireShared));

            lock.refresh();

            assertHeld(LockMode.SHARED);
            assertThat(lock.fencingToken()).isEmpty();
        }

        @Test
        void whenItsAnswerIsOnItsWay_thenADemotionWaitsForIt() throws Exception {
            acquired();
            Pause refreshed = new Pause();
            store.next(REFRESH, Fault.pausedBefore(refreshed));
            BackgroundCall<Lock> refresh = BackgroundCall.start(lock::refresh);
            refreshed.awaitReached();
            BackgroundCall<Boolean> demotion = BackgroundCall.start(() -> lock.tryAcquireShared());
            demotion.awaitWaiting();
            assertThat(store.operations()).containsExactly(SAVE, REFRESH);

            refreshed.end();

            assertThat(refresh.result()).isSameAs(lock);
            assertThat(demotion.result()).isTrue();
            assertHeld(LockMode.SHARED);
            assertThat(losses).isEmpty();
        }

        @Test
        void whenTheAnswerComesAfterTheEnd_thenWhatLookedOverStaysOver() {
            Lock brief = locks.createLock("brief", Duration.ofSeconds(1));
            assertThat(brief.tryAcquire()).isTrue();
            store.next(REFRESH, Fault.meanwhile(() -> awaitExpired(brief)));

            assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> brief.refresh(TTL));

            assertThat(brief.isExpired()).isTrue();
            assertThat(brief.fencingToken()).isEmpty();
        }

        @Test
        void whenAcquiredAgainAndTheAnswerComesAfterTheEnd_thenWhatLookedOverStaysOver() {
            Lock brief = locks.createLock("brief", TTL);
            assertThat(brief.tryAcquire()).isTrue();
            brief.refresh(Duration.ofSeconds(1));
            store.next(SAVE, Fault.meanwhile(() -> awaitExpired(brief)));

            assertThatExceptionOfType(LockLostException.class).isThrownBy(brief::tryAcquire);

            assertThat(brief.isExpired()).isTrue();
        }

        /** Looks without having the end noticed. */
        private static Object awaitExpired(Lock lock) {
            await().atMost(TimeLimits.LIMIT).until(lock::isExpired);
            return lock;
        }

        @Test
        void whenNoAnswer_thenTheEarlierOfOldAndNewEndIsBelieved() {
            acquired();
            store.next(REFRESH, Fault.replyLost(), Fault.unreachable());

            assertThatExceptionOfType(LockStorageException.class)
                    .isThrownBy(() -> lock.refresh(Duration.ofMinutes(10)));
            assertThat(remaining()).isLessThan(TTL).isGreaterThan(Duration.ofSeconds(20));

            assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> lock.refresh(Duration.ofSeconds(5)));
            assertThat(remaining()).isLessThan(Duration.ofSeconds(5)).isPositive();
        }

        @Test
        void whenAShorterTtlIsOnItsWay_thenNoMoreIsBelievedAlready() throws Exception {
            acquired();
            Pause pause = new Pause();
            store.next(REFRESH, Fault.pausedAfter(pause));
            BackgroundCall<Lock> refresh = BackgroundCall.start(() -> lock.refresh(Duration.ofSeconds(5)));
            pause.awaitReached();

            assertThat(remaining()).isLessThan(Duration.ofSeconds(5));

            pause.end();
            refresh.result();
        }

        @Test
        void whenLost_thenThrownAndFree() {
            acquired();
            releaseElsewhere(lock);

            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::refresh);

            assertFree();
            assertLostOnce(LossReason.EXPIRED);
        }

        @Test
        void whenLostBefore_thenThrownAgainWithoutAskingTheStore() {
            acquired();
            store.lose(lock.key(), LossReason.SESSION_LOST);
            assertLostOnce(LossReason.SESSION_LOST);
            store.forgetCalls();

            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(lock::refresh)
                    .satisfies(e -> assertThat(e.reason()).isEqualTo(LossReason.SESSION_LOST));

            assertThat(store.operations()).isEmpty();
        }

        @Test
        void whenTheStoreDoesNotExpire_thenItIsAskedWhetherTheHoldIsThere() {
            try (LockFactory endless = new LockFactory(notExpiring(store))) {
                Lock held = endless.createLock("endless");
                assertThat(held.tryAcquire()).isTrue();

                held.refresh();

                assertThat(store.operations()).containsExactly(SAVE, FIND);
                releaseElsewhere(held);
                assertThatExceptionOfType(LockLostException.class).isThrownBy(held::refresh);
            }
        }
    }

    @Nested
    @DisplayName("held, and released")
    class Released {

        @Test
        void whenItWasOurs_thenTrueThroughOneDelete() {
            acquired();

            assertThat(lock.release()).isTrue();

            assertThat(store.operations()).containsExactly(SAVE, DELETE);
            assertThat(lock.isExpired()).isFalse();
            assertThat(rival.tryAcquire()).isTrue();
        }

        @Test
        void whenReleasedTwice_thenTheSecondIsFalseAndFree() {
            acquired();
            assertThat(lock.release()).isTrue();

            assertThat(lock.release()).isFalse();

            assertThat(store.operations()).containsExactly(SAVE, DELETE);
        }

        @Test
        void whenItWasNoLongerOurs_thenFalseAndTheListenerToldOnce() {
            acquired();
            releaseElsewhere(lock);

            assertThat(lock.release()).isFalse();

            assertLostOnce(LossReason.RELEASED_ELSEWHERE);
        }

        @Test
        void whenNoAnswer_thenFreeWithAnotherKey() {
            acquired();
            Key before = lock.key();
            store.next(DELETE, Fault.replyLost());

            assertThatExceptionOfType(LockStorageException.class).isThrownBy(lock::release);

            assertFreeWithAnotherKeyThan(before);
            assertThat(store.operations()).containsExactly(SAVE, DELETE);
        }

        @Test
        void whenClosedAndNoAnswer_thenSilentSoAsNotToHideTheBody() {
            acquired();
            store.next(DELETE, Fault.unreachable());

            lock.close();

            assertFree();
        }

        @Test
        void whenClosedAndItWasNoLongerOurs_thenLost() {
            acquired();
            releaseElsewhere(lock);

            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
        }

        @Test
        @Tag("slow")
        void whenRenewedByTheFactory_thenNothingIsRenewedAfterwards() {
            Lock renewed = locks.lock("renewed").ttl(RENEWED).autoRefresh().create();
            assertThat(renewed.tryAcquire()).isTrue();
            await().until(() -> store.operations().contains(REFRESH));

            assertThat(renewed.release()).isTrue();

            store.forgetCalls();
            Lock later = locks.lock("later").ttl(RENEWED).autoRefresh().create();
            assertThat(later.tryAcquire()).isTrue();
            await().until(() -> refreshesOf(later) >= 2);
            assertThat(refreshesOf(renewed)).isZero();
        }

        @Test
        void whenTheFactoryIsClosed_thenReleasedAndNothingCanBeAcquired() {
            acquired();

            locks.close();

            assertThat(store.operations()).containsExactly(SAVE, DELETE);
            assertThatIllegalStateException()
                    .isThrownBy(() -> lock.tryAcquire())
                    .withMessageContaining("LockFactory was closed");
        }

        /** As when the JVM exits: what follows the close, as the end of the store, comes after the last release. */
        @Test
        void whenTheFactoryIsClosedTwiceAtOnce_thenNeitherReturnsBeforeTheRelease() throws Exception {
            acquired();
            Pause pause = new Pause();
            store.next(DELETE, Fault.pausedBefore(pause));
            BackgroundCall<Boolean> first = BackgroundCall.start(this::closedAndReleased);
            pause.awaitReached();
            BackgroundCall<Boolean> second = BackgroundCall.start(this::closedAndReleased);
            second.awaitWaiting();
            second.interrupt();

            pause.end();

            assertThat(second.result()).isTrue();
            assertThat(first.result()).isTrue();
        }

        private boolean closedAndReleased() {
            locks.close();
            return memory.holders(RESOURCE).isEmpty();
        }

        @Test
        void whenTheFactoryIsClosedByItsOwnRelease_thenItDoesNotWaitForItself() throws Exception {
            acquired();
            store.next(DELETE, Fault.meanwhile(() -> {
                locks.close();
                return true;
            }));

            assertThat(BackgroundCall.start(this::closedAndReleased).result()).isTrue();
        }

        @Test
        void whenTheFactoryIsClosedWithoutAutoRelease_thenTheHoldStays() {
            Lock kept = locks.lock("kept").ttl(TTL).withoutAutoRelease().create();
            assertThat(kept.tryAcquire()).isTrue();

            locks.close();

            assertThat(store.operations()).containsExactly(SAVE);
            assertThat(kept.isAcquired()).isTrue();
        }
    }

    @Nested
    @DisplayName("held, and handed over")
    class HandedOver {

        @Test
        void whenHandedOver_thenFreeWithAnotherKeyAndTheOldOneHolds() {
            long token = acquired();

            Key given = lock.transferKey();

            assertThat(given.held()).contains(new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(token)));
            assertThat(store.operations()).containsExactly(SAVE);
            assertFreeWithAnotherKeyThan(given);
            assertThat(lock.release()).isFalse();
            assertThat(locks.createLock(given, TTL).isAcquired()).isTrue();
        }

        @Test
        void whenTheFactoryIsClosed_thenWhatWasHandedOverStays() {
            acquired();
            Key given = lock.transferKey();

            locks.close();

            assertThat(new LockFactory(store).createLock(given, TTL).isAcquired())
                    .isTrue();
        }
    }

    @Nested
    @DisplayName("ADOPTED")
    class Adopted {

        @Test
        void whenMadeFromAKey_thenExpiredUntilTheStoreWasAsked() {
            acquired();
            Lock adopted = locks.createLock(lock.transferKey(), TTL);

            assertThat(adopted.isExpired()).isTrue();
            assertThat(adopted.fencingToken()).isEmpty();

            assertThat(adopted.isAcquired()).isTrue();
            assertThat(adopted.isExpired()).isFalse();
        }

        @Test
        void whenRefreshed_thenHeldWithTheTokenItCameWith() {
            long token = acquired();
            Lock adopted = locks.createLock(lock.transferKey(), TTL);

            adopted.refresh();

            assertThat(adopted.fencingToken()).hasValue(token);
            assertThat(adopted.remainingLifetime())
                    .hasValueSatisfying(left -> assertThat(left).isPositive());
        }

        @Test
        void whenAcquired_thenTheSameHoldGoesOn() {
            long token = acquired();
            Lock adopted = locks.createLock(lock.transferKey(), TTL);

            assertThat(adopted.tryAcquire()).isTrue();

            assertThat(adopted.fencingToken()).hasValue(token);
        }

        @Test
        void whenReleased_thenTheStoreIsAsked() {
            acquired();
            Lock adopted = locks.createLock(lock.transferKey(), TTL);

            assertThat(adopted.release()).isTrue();

            assertThat(rival.tryAcquire()).isTrue();
        }

        @Test
        void whenTheHoldIsGone_thenLostAndNotTakenAnew() {
            acquired();
            Key given = lock.transferKey();
            store.delete(given);
            Lock adopted = locks.createLock(given, TTL);

            assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> adopted.tryAcquire());

            assertThat(rival.tryAcquire()).isTrue();
        }

        @Test
        void whenTheStoreDoesNotAnswer_thenNothingIsDeletedAndItIsAdoptedStill() {
            acquired();
            Lock adopted = locks.createLock(lock.transferKey(), TTL);
            store.forgetCalls();
            store.next(SAVE, Fault.replyLost());

            assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> adopted.tryAcquire());

            assertThat(store.operations()).containsExactly(SAVE);
            assertThat(adopted.isExpired()).isTrue();
            assertThat(adopted.isAcquired()).isTrue();
        }
    }

    @Test
    void givenInterruptFlag_whenTried_thenWorksAndKeepsTheFlag() {
        Thread.currentThread().interrupt();

        assertThat(lock.tryAcquire()).isTrue();
        lock.refresh();
        assertThat(lock.isAcquired()).isTrue();
        assertThat(lock.release()).isTrue();

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void givenInterruptFlag_whenAcquired_thenInterruptedBeforeAnythingIsAsked() {
        Thread.currentThread().interrupt();

        assertThatExceptionOfType(InterruptedException.class).isThrownBy(lock::acquire);

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(store.operations()).isEmpty();
    }

    @Test
    @Tag("slow")
    void givenFailingStore_whenRenewedByTheFactory_thenLostAsUnreachableAtTheLocalEnd() {
        Lock renewed = locks.lock("renewed")
                .ttl(RENEWED)
                .autoRefresh()
                .onLost(losses::add)
                .create();
        store.always(REFRESH, Fault.unreachable());

        assertThat(renewed.tryAcquire()).isTrue();

        assertLostOnce(LossReason.STORE_UNREACHABLE);
        assertThat(renewed.isExpired()).isTrue();
    }

    private static PersistingStore notExpiring(PersistingStore store) {
        return new PersistingStore() {
            @Override
            public Response save(Request request) {
                return store.save(request);
            }

            @Override
            public boolean delete(Key key) {
                return store.delete(key);
            }

            @Override
            public Optional<Response.Granted> find(Key key) {
                return store.find(key);
            }
        };
    }

    private long acquired() {
        assertThat(lock.tryAcquire()).isTrue();
        return lock.fencingToken().getAsLong();
    }

    private long tokenOfAnEarlierHold() {
        assertThat(rival.tryAcquire()).isTrue();
        long token = rival.fencingToken().getAsLong();
        assertThat(rival.release()).isTrue();
        return token;
    }

    private Duration remaining() {
        return lock.remainingLifetime().orElseThrow();
    }

    private Duration remainingAfterSomeTime() {
        Duration later = remaining().minusMillis(100);
        await().until(() -> remaining().compareTo(later) < 0);
        return later;
    }

    private void releaseElsewhere(Lock held) {
        assertThat(locks.createLock(held.key(), TTL).release()).isTrue();
    }

    private long refreshesOf(Lock held) {
        return store.calls().stream()
                .filter(call -> call.operation() == REFRESH && call.key().equals(held.key()))
                .count();
    }

    private void assertHeld(LockMode mode) {
        assertThat(lock.key().held().map(Key.Held::mode)).contains(mode);
        assertThat(lock.isExpired()).isFalse();
        assertThat(remaining()).isPositive();
    }

    private void assertFree() {
        assertThat(lock.key().held()).isEmpty();
        assertThat(lock.remainingLifetime()).contains(Duration.ZERO);
        assertThat(lock.fencingToken()).isEmpty();
    }

    private void assertFreeWithAnotherKeyThan(Key before) {
        assertFree();
        assertThat(lock.key()).isNotEqualTo(before);
        assertThat(lock.key().resource()).isEqualTo(before.resource());
    }

    private void assertLostOnce(LossReason reason) {
        await().untilAsserted(() -> assertThat(losses).isNotEmpty());
        awaitNotifierHasCaughtUp();
        assertThat(losses).containsExactly(reason);
    }

    /** A listener that comes late is told behind all that the notifier has been given before. */
    private void awaitNotifierHasCaughtUp() {
        CompletableFuture<LossReason> told = new CompletableFuture<>();
        lostBefore.onLost(told::complete);
        await().until(told::isDone);
    }
}
