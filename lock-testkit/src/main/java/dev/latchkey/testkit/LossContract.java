package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A hold that ends without a release by its Lock: what the Lock says of that, and that it takes nothing from others. */
public interface LossContract extends StoreContract {

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

    private static Lock lostToARelease(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(fixture.lock(lock.key()).release()).isTrue();
        return lock;
    }
}
