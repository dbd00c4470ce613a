package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockLostException;
import org.junit.jupiter.api.Test;

/** A hold is that of its key: several Locks over one key, and a key that is given to another owner. */
public interface KeyContract extends StoreContract {

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
}
