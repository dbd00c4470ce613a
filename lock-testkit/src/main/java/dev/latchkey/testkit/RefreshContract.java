package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import org.junit.jupiter.api.Test;

/** Refreshing keeps what is held, and never acquires what is not. */
public interface RefreshContract extends StoreContract {

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
}
