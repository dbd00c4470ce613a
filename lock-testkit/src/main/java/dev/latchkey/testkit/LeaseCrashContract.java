package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.spi.ExpiringStore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A lease outlives its process, and ends without it: for an {@link ExpiringStore} that several processes can reach and that
 * is not bound to a process.
 */
@ContractFor(value = ExpiringStore.class, with = HandoverContract.class)
public interface LeaseCrashContract extends CrashContract {

    @Test
    @Tag("slow")
    default void givenHolderIsKilled_whenItsLeaseLasts_thenItIsHeldStill(Fixture fixture) {
        Key key;
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            RemoteLock holder = other.lock(fixture.resource(), LONG_TTL);
            assertThat(holder.tryAcquire()).isTrue();
            key = holder.key();

            other.kill();
        }

        assertThat(fixture.lock().tryAcquire()).isFalse();
        assertThat(fixture.lock(key).release()).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenHolderIsFrozenPastItsLease_whenThawed_thenItKnowsThatItLost(Fixture fixture) throws Exception {
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            RemoteLock holder = other.lock(fixture.resource(), crashTtl());
            assertThat(holder.tryAcquire()).isTrue();
            other.freeze();
            Lock taker = fixture.lock().acquire();

            other.thaw();

            assertThat(holder.isExpired()).isTrue();
            assertThat(holder.isAcquired()).isFalse();
            assertThatThrownBy(holder::refresh)
                    .isInstanceOf(RemoteFailure.class)
                    .hasMessageContaining("LockLostException");
            assertThat(holder.release()).isFalse();
            assertThat(taker.isAcquired()).isTrue();
        }
    }

    @Test
    @Tag("slow")
    default void givenWaiterIsFrozenWhileItsTurnComes_whenOthersWait_thenTheyAreNotHeldUpForEver(Fixture fixture)
            throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            other.lock(fixture.resource(), crashTtl())
                    .startAcquire(WaitingContract.LONG_WAIT)
                    .awaitWaiting();
            freezeWaiter(other);
            assertThat(holder.release()).isTrue();

            boolean acquired = fixture.lock().tryAcquire(crashTtl().plus(TimeLimits.LIMIT));

            assertThat(acquired).isTrue();
        }
    }
}
