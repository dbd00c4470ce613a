package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Acquiring and releasing: how {@link Lock} behaves over every store, with exclusive holds. */
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
}
