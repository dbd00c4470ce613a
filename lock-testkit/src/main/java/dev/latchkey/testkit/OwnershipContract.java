package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Who owns a lock, and who learns of losing it: how {@link Lock} behaves over every store, with exclusive holds. */
public interface OwnershipContract extends StoreContract {

    @Test
    default void givenFree_whenTryAcquire_thenAcquired(Fixture fixture) {
        Lock lock = fixture.lock();

        boolean acquired = lock.tryAcquire();

        assertThat(acquired).isTrue();
        assertThat(lock.isAcquired()).isTrue();
        assertThat(lock.isExpired()).isFalse();
    }

    @Test
    default void givenFree_whenAcquire_thenThisForTryWithResources(Fixture fixture) throws Exception {
        Lock lock = fixture.lock();

        Lock acquired = lock.acquire();

        assertThat(acquired).isSameAs(lock);
        assertThat(fixture.lock().tryAcquire()).isFalse();
    }

    @Test
    default void givenHeldByOther_whenTryAcquire_thenFalse(Fixture fixture) {
        assertThat(fixture.lock().tryAcquire()).isTrue();
        Lock rival = fixture.lock();

        boolean acquired = rival.tryAcquire();

        assertThat(acquired).isFalse();
        assertThat(rival.isAcquired()).isFalse();
        assertThat(rival.isExpired()).isFalse();
    }

    @Test
    default void givenHeld_whenAcquiredAgain_thenOneReleaseEndsIt(Fixture fixture) throws Exception {
        Lock lock = fixture.lock();
        lock.acquire();
        lock.acquire();
        assertThat(lock.tryAcquire()).isTrue();

        boolean released = lock.release();

        assertThat(released).isTrue();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenTwoLocksOverOneKey_whenBothAcquire_thenBothHold(Fixture fixture) {
        Lock one = fixture.lock();
        assertThat(one.tryAcquire()).isTrue();
        Lock other = fixture.lock(one.key());

        boolean acquired = other.tryAcquire();

        assertThat(acquired).isTrue();
        assertThat(one.isAcquired()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
    }

    @Test
    default void givenTwoLocksOverOneKey_whenOtherReleases_thenItWasOursToo(Fixture fixture) {
        Lock one = fixture.lock();
        assertThat(one.tryAcquire()).isTrue();
        Lock other = fixture.lock(one.key());

        boolean released = other.release();

        assertThat(released).isTrue();
        assertThat(one.isAcquired()).isFalse();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenLockMadeFromAKey_whenAsked_thenExpiredUntilTheStoreSaysItHolds(Fixture fixture) {
        Lock one = fixture.lock();
        assertThat(one.tryAcquire()).isTrue();
        Lock adopted = fixture.lock(one.key());
        assertThat(adopted.isExpired()).isTrue();

        boolean acquired = adopted.isAcquired();

        assertThat(acquired).isTrue();
        assertThat(adopted.isExpired()).isFalse();
        assertThat(adopted.fencingToken()).isEqualTo(one.fencingToken());
    }

    @Test
    default void givenLockMadeFromAKey_whenRefreshed_thenHeld(Fixture fixture) {
        Lock one = fixture.lock();
        assertThat(one.tryAcquire()).isTrue();
        Lock adopted = fixture.lock(one.key());

        adopted.refresh();

        assertThat(adopted.isExpired()).isFalse();
        assertThat(adopted.release()).isTrue();
    }

    @Test
    default void givenLockMadeFromAKeyThatHoldsNothing_whenRefreshed_thenLost(Fixture fixture) {
        Lock one = fixture.lock();
        assertThat(one.tryAcquire()).isTrue();
        Key key = one.key();
        assertThat(one.release()).isTrue();
        Lock adopted = fixture.lock(key);

        assertThatThrownBy(adopted::refresh).isInstanceOf(LockLostException.class);

        assertThat(adopted.isAcquired()).isFalse();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenHandedOver_whenReleasedHere_thenTheNewOwnerHolds(Fixture fixture) {
        Lock giver = fixture.lock();
        assertThat(giver.tryAcquire()).isTrue();
        Lock owner = fixture.lock(giver.transferKey());
        assertThat(owner.isAcquired()).isTrue();

        boolean released = giver.release();

        assertThat(released).isFalse();
        assertThat(owner.isAcquired()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
    }

    @Test
    default void givenHandedOver_whenAcquiredAgainHere_thenRefusedAsAnyRival(Fixture fixture) {
        Lock giver = fixture.lock();
        assertThat(giver.tryAcquire()).isTrue();
        Lock owner = fixture.lock(giver.transferKey());

        boolean acquired = giver.tryAcquire();

        assertThat(acquired).isFalse();
        assertThat(owner.release()).isTrue();
        assertThat(giver.tryAcquire()).isTrue();
    }

    @Test
    default void givenNothingHeld_whenHandedOver_thenIllegalState(Fixture fixture) {
        Lock lock = fixture.lock();

        assertThatThrownBy(lock::transferKey)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(fixture.resource());
    }

    @Test
    default void givenNeverAcquired_whenReleased_thenFalse(Fixture fixture) {
        Lock lock = fixture.lock();

        boolean released = lock.release();

        assertThat(released).isFalse();
    }

    @Test
    default void givenNeverAcquired_whenClosed_thenNothingHappens(Fixture fixture) {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();

        assertThatCode(fixture.lock()::close).doesNotThrowAnyException();

        assertThat(holder.isAcquired()).isTrue();
    }

    @Test
    default void givenReleased_whenReleasedAgain_thenFalse(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.release()).isTrue();

        boolean released = lock.release();

        assertThat(released).isFalse();
    }

    @Test
    default void givenReleased_whenOtherHolds_thenASecondReleaseDoesNotHurt(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.release()).isTrue();
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();

        boolean released = lock.release();

        assertThat(released).isFalse();
        assertThat(holder.isAcquired()).isTrue();
    }

    @Test
    default void givenReleased_whenAskedForItsLifetime_thenNone(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.release()).isTrue();

        assertThat(lock.remainingLifetime()).contains(Duration.ZERO);
        assertThat(lock.isExpired()).isFalse();
        assertThat(lock.fencingToken()).isEmpty();
        assertThat(lock.key().held()).isEmpty();
    }

    @Test
    default void givenReleased_whenAcquiredAgain_thenHeld(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.release()).isTrue();

        boolean acquired = lock.tryAcquire();

        assertThat(acquired).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
    }

    @Test
    default void givenClosed_whenAcquiredAgain_thenHeld(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        lock.close();

        boolean acquired = lock.tryAcquire();

        assertThat(acquired).isTrue();
    }

    @Test
    default void givenHeld_whenRefreshed_thenHeldStill(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();

        Lock refreshed = lock.refresh();

        assertThat(refreshed).isSameAs(lock);
        assertThat(lock.isAcquired()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
    }

    @Test
    default void givenNeverAcquired_whenRefreshed_thenIllegalStateAndNothingTaken(Fixture fixture) {
        Lock lock = fixture.lock();

        assertThatThrownBy(lock::refresh)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(fixture.resource());

        assertThat(lock.isAcquired()).isFalse();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenHeldByOther_whenLoserRefreshes_thenIllegalStateAndHolderHolds(Fixture fixture) {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        Lock loser = fixture.lock();
        assertThat(loser.tryAcquire()).isFalse();

        assertThatThrownBy(loser::refresh).isInstanceOf(IllegalStateException.class);

        assertThat(holder.isAcquired()).isTrue();
    }

    @Test
    default void givenReleased_whenRefreshed_thenIllegalState(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.release()).isTrue();

        assertThatThrownBy(lock::refresh).isInstanceOf(IllegalStateException.class);

        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenReleasedElsewhere_whenReleased_thenFalse(Fixture fixture) {
        Lock lock = lostToARelease(fixture);

        boolean released = lock.release();

        assertThat(released).isFalse();
    }

    @Test
    default void givenReleasedElsewhere_whenClosed_thenLost(Fixture fixture) {
        Lock lock = lostToARelease(fixture);

        assertThatThrownBy(lock::close).isInstanceOf(LockLostException.class).hasMessageContaining(fixture.resource());
    }

    @Test
    default void givenReleasedElsewhere_whenRefreshed_thenLostAndNothingTaken(Fixture fixture) {
        Lock lock = lostToARelease(fixture);

        assertThatThrownBy(lock::refresh).isInstanceOf(LockLostException.class);

        assertThat(lock.isExpired()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenReleasedElsewhere_whenAcquiredAgain_thenLostAndNothingTaken(Fixture fixture) {
        Lock lock = lostToARelease(fixture);

        assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockLostException.class);

        assertThat(lock.isAcquired()).isFalse();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenLossWasThrown_whenAcquiredAgain_thenHeldAnew(Fixture fixture) {
        Lock lock = lostToARelease(fixture);
        assertThatThrownBy(lock::refresh).isInstanceOf(LockLostException.class);

        boolean acquired = lock.tryAcquire();

        assertThat(acquired).isTrue();
        assertThat(lock.isExpired()).isFalse();
        assertThat(fixture.lock().tryAcquire()).isFalse();
    }

    @Test
    default void givenTakenOver_whenLoserReleases_thenTheTakerHolds(Fixture fixture) {
        Lock loser = lostToARelease(fixture);
        Lock taker = fixture.lock();
        assertThat(taker.tryAcquire()).isTrue();

        boolean released = loser.release();

        assertThat(released).isFalse();
        assertThat(taker.isAcquired()).isTrue();
    }

    @Test
    default void givenTakenOver_whenLoserRefreshes_thenLostAndTheTakerHolds(Fixture fixture) {
        Lock loser = lostToARelease(fixture);
        Lock taker = fixture.lock();
        assertThat(taker.tryAcquire()).isTrue();

        assertThatThrownBy(loser::refresh).isInstanceOf(LockLostException.class);

        assertThat(taker.isAcquired()).isTrue();
    }

    @Test
    default void givenReleasedElsewhere_whenFoundOut_thenListenersAreToldOnce(Fixture fixture) {
        List<LossReason> told = new CopyOnWriteArrayList<>();
        Lock lock = fixture.lock();
        lock.onLost(told::add);
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(fixture.lock(lock.key()).release()).isTrue();

        assertThat(lock.isAcquired()).isFalse();
        assertThatThrownBy(lock::refresh).isInstanceOf(LockLostException.class);
        assertThat(lock.release()).isFalse();

        awaitNotifierHasCaughtUp(fixture);
        assertThat(told).containsExactly(LossReason.RELEASED_ELSEWHERE);
    }

    /** Waits until a loss that is found now has been told: so has each that was found before, and as often as it ever will. */
    static void awaitNotifierHasCaughtUp(Fixture fixture) {
        List<LossReason> told = new CopyOnWriteArrayList<>();
        Lock last = fixture.locks().createLock(fixture.resource() + "-told-last", LONG_TTL);
        last.onLost(told::add);
        assertThat(last.tryAcquire()).isTrue();
        assertThat(fixture.lock(last.key()).release()).isTrue();
        assertThat(last.isAcquired()).isFalse();

        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> !told.isEmpty());
    }

    @Test
    default void givenHeld_whenFactoryClosed_thenReleased(Fixture fixture) {
        LockFactory factory = new LockFactory(fixture.store());
        assertThat(factory.createLock(fixture.resource(), LONG_TTL).tryAcquire())
                .isTrue();

        factory.close();

        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenHeldWithoutAutoRelease_whenFactoryClosed_thenHeldStill(Fixture fixture) {
        LockFactory factory = new LockFactory(fixture.store());
        Lock lock = factory.lock(fixture.resource())
                .ttl(LONG_TTL)
                .withoutAutoRelease()
                .create();
        assertThat(lock.tryAcquire()).isTrue();
        Key key = lock.key();

        factory.close();

        assertThat(fixture.lock().tryAcquire()).isFalse();
        assertThat(fixture.lock(key).release()).isTrue();
    }

    private static Lock lostToARelease(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(fixture.lock(lock.key()).release()).isTrue();
        return lock;
    }
}
