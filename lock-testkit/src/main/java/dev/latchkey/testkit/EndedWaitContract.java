package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.WaitingContract.LONG_WAIT;
import static dev.latchkey.testkit.WaitingContract.SHORT_WAIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockFactory;
import org.junit.jupiter.api.Test;

/** A wait that ends without the lock: nothing is held by it, and nothing of it is left. */
public interface EndedWaitContract extends StoreContract {

    @Test
    default void givenAWaiterGaveUp_whenHolderReleases_thenFree(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        assertThat(fixture.lock().tryAcquire(SHORT_WAIT)).isFalse();

        assertThat(holder.release()).isTrue();

        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenAWaiterGaveUp_whenItTriesAgain_thenAcquired(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = fixture.lock();
        assertThat(waiter.tryAcquire(SHORT_WAIT)).isFalse();
        assertThat(holder.release()).isTrue();

        boolean acquired = waiter.tryAcquire();

        assertThat(acquired).isTrue();
    }

    @Test
    default void givenWaiting_whenClosedByAnotherThread_thenConflict(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = fixture.lock();
        BackgroundCall<Lock> waiting = fixture.startWaiting(waiter::acquire);

        waiter.close();

        assertThatThrownBy(waiting::result).isInstanceOf(LockConflictedException.class);
        assertThat(holder.release()).isTrue();
        assertThat(waiter.isAcquired()).isFalse();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenWaiting_whenReleasedByAnotherThread_thenRefusedAndNothingHeld(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = fixture.lock();
        BackgroundCall<Boolean> waiting = fixture.startWaiting(() -> waiter.tryAcquire(LONG_WAIT));

        boolean released = waiter.release();

        assertThat(released).isFalse();
        assertThat(waiting.result()).isFalse();
        assertThat(holder.release()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenWaiting_whenFactoryClosed_thenItEndsAndNothingIsHeld(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        LockFactory others = fixture.closing(new LockFactory(fixture.store()));
        Lock waiter = others.createLock(fixture.resource(), LONG_TTL);
        BackgroundCall<Boolean> waiting = fixture.startWaiting(() -> waiter.tryAcquire(LONG_WAIT));

        others.close();

        assertThat(waiting.result()).isFalse();
        assertThat(holder.release()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }
}
