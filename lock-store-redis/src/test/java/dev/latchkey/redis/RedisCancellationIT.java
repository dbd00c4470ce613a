package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What other Redis locks do wrong when a caller is interrupted, gives up or goes away: none of it happens here. */
class RedisCancellationIT extends WithAStore {

    private static final Duration LONG_TTL = Fixture.LONG_TTL;
    private static final Duration SHORT_TTL = TimeLimits.ttl(Duration.ofMillis(900));

    /** Of what has to be held, and renewed, also by a machine that stands still for some seconds. */
    private static final Duration HELD_TTL = TimeLimits.ttl(Duration.ofSeconds(7));

    private static final String RESOURCE = "report";

    private Lock renewed(Duration ttl) {
        return locks.lock(RESOURCE).ttl(ttl).autoRefresh().create();
    }

    private Lock held() {
        Lock holder = locks.createLock(RESOURCE, LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        return holder;
    }

    private void awaitWaiting(int count) {
        Awaitility.await().until(() -> keys.listening().size() == count);
    }

    private void assertNothingGoesOn() {
        assertNothingGoesOn(SHORT_TTL);
    }

    private void assertNothingGoesOn(Duration longestTtl) {
        new Aftermath(server, RESOURCE).assertNothingGoesOn(longestTtl);
    }

    @Test
    void givenTheInterruptFlag_whenTried_thenItWorksAndKeepsTheFlagAndNothingIsLeft() {
        Lock lock = renewed(HELD_TTL);
        Thread.currentThread().interrupt();

        boolean acquired = lock.tryAcquire();
        boolean released = lock.release();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(acquired).isTrue();
        assertThat(released).isTrue();
        assertNothingGoesOn(HELD_TTL);
    }

    @Test
    void givenTheInterruptFlag_whenAskedToWait_thenInterruptedAndNothingIsLeft() {
        Lock lock = renewed(SHORT_TTL);
        Thread.currentThread().interrupt();

        assertThatThrownBy(lock::acquire).isInstanceOf(InterruptedException.class);

        assertThat(Thread.interrupted()).isFalse();
        assertNothingGoesOn();
    }

    @Test
    void givenAWaiter_whenInterrupted_thenItLeavesTheQueueAndIsNeverGrantedIt() throws Exception {
        Lock holder = held();
        Lock lock = renewed(SHORT_TTL);
        BackgroundCall<Lock> waiting = BackgroundCall.start(lock::acquire);
        awaitWaiting(1);

        waiting.interrupt();

        assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
        assertThat(keys.waiting()).isEmpty();
        assertThat(holder.release()).isTrue();
        assertThat(lock.isAcquired()).isFalse();
        assertNothingGoesOn();
    }

    @Test
    void givenInterruptMeetsGrant_whenTheWaitEnds_thenItIsEitherHeldOrFreeAtOnce() throws Exception {
        int granted = 0;
        for (int i = 0; i < 200; i++) {
            Lock holder = held();
            Lock lock = locks.createLock(RESOURCE, LONG_TTL);
            BackgroundCall<Lock> waiting = BackgroundCall.start(lock::acquire);
            awaitWaiting(1);
            BackgroundCall<Boolean> releasing = BackgroundCall.start(holder::release);

            waiting.interrupt();

            assertThat(releasing.result()).isTrue();
            try {
                assertThat(waiting.result().release()).isTrue();
                granted++;
            } catch (InterruptedException e) {
                assertThat(lock.remainingLifetime()).hasValue(Duration.ZERO);
            }
            Lock next = locks.createLock(RESOURCE, LONG_TTL);
            assertThat(next.tryAcquire()).as("free at once, round " + i).isTrue();
            assertThat(next.release()).isTrue();
        }
        assertThat(granted).as("grants that met an interrupt").isLessThan(200);
        assertNothingGoesOn();
    }

    @Test
    void givenAWaitIsOver_whenTheHolderReleases_thenItIsFreeAtOnce() throws Exception {
        Lock holder = held();
        Lock lock = renewed(SHORT_TTL);

        assertThat(lock.tryAcquire(Duration.ofMillis(100))).isFalse();
        assertThatThrownBy(() -> lock.acquire(Duration.ofMillis(100))).isInstanceOf(LockConflictedException.class);

        assertThat(keys.waiting()).isEmpty();
        assertThat(holder.release()).isTrue();
        assertNothingGoesOn();
    }

    @Test
    void givenTwoWait_whenOneIsInterrupted_thenTheOtherGetsIt() throws Exception {
        Lock holder = held();
        BackgroundCall<Lock> first =
                BackgroundCall.start(() -> locks.createLock(RESOURCE, LONG_TTL).acquire());
        awaitWaiting(1);
        BackgroundCall<Lock> second =
                BackgroundCall.start(() -> locks.createLock(RESOURCE, LONG_TTL).acquire());
        awaitWaiting(2);

        first.interrupt();

        assertThatThrownBy(first::result).isInstanceOf(InterruptedException.class);
        assertThat(holder.release()).isTrue();
        assertThat(second.result().release()).isTrue();
        assertNothingGoesOn();
    }

    @Test
    void givenAPromoterWaits_whenInterrupted_thenItIsStillSharedAndReadersComeIn() throws Exception {
        Lock reader = locks.createLock(RESOURCE, LONG_TTL);
        Lock promoter = locks.createLock(RESOURCE, LONG_TTL);
        assertThat(reader.tryAcquireShared()).isTrue();
        assertThat(promoter.tryAcquireShared()).isTrue();
        BackgroundCall<Lock> promoting = BackgroundCall.start(promoter::acquire);
        awaitWaiting(1);

        promoting.interrupt();

        assertThatThrownBy(promoting::result).isInstanceOf(InterruptedException.class);
        assertThat(promoter.isAcquired()).isTrue();
        Lock another = locks.createLock(RESOURCE, LONG_TTL);
        assertThat(another.tryAcquireShared()).isTrue();
        assertThat(another.release() && reader.release() && promoter.release()).isTrue();
        assertNothingGoesOn();
    }

    @Test
    void givenManyRenewedHoldsBefore_whenOneIsHeld_thenItAloneIsRenewed() {
        for (int i = 0; i < 100; i++) {
            Lock lock = renewed(HELD_TTL);
            assertThat(lock.tryAcquire() && lock.release()).isTrue();
        }
        Lock lock = renewed(HELD_TTL);
        assertThat(lock.tryAcquire()).isTrue();
        keys.resetCommands();

        Awaitility.await().until(() -> keys.commands().getOrDefault("evalsha", 0L) >= 3);
        long start = System.nanoTime();
        keys.resetCommands();
        Awaitility.await().until(() -> keys.commands().getOrDefault("evalsha", 0L) >= 4);
        Duration fourRenewals = Duration.ofNanos(System.nanoTime() - start);

        // One chain takes a third of the TTL for each; of two, all four would take two thirds at most. One may be late.
        assertThat(fourRenewals).isGreaterThan(HELD_TTL.dividedBy(3).multipliedBy(2));
        assertThat(lock.release()).isTrue();
        assertNothingGoesOn(HELD_TTL);
    }

    @Test
    void givenRenewedHoldAndWaiter_whenTheFactoryIsClosed_thenNothingIsHeldQueuedOrRenewed() {
        Lock lock = renewed(HELD_TTL);
        assertThat(lock.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = BackgroundCall.start(renewed(HELD_TTL)::acquire);
        awaitWaiting(1);

        locks.close();

        assertThatThrownBy(waiting::result).isInstanceOf(LockConflictedException.class);
        assertNothingGoesOn(HELD_TTL);
    }

    @Test
    void givenALockWasHeldForItsTtl_whenItIsTakenAgainWithTheUsualTtl_thenItHasThatOne() {
        Lock lock = held();
        lock.refresh(HELD_TTL);
        Awaitility.await().until(lock::isExpired);

        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.remainingLifetime().orElseThrow()).isGreaterThan(LONG_TTL.dividedBy(2));
        assertThat(lock.release()).isTrue();
        assertNothingGoesOn();
    }
}
