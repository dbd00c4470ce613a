package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockMode;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.SharedStore;
import java.util.List;
import org.junit.jupiter.api.Test;

/** People can look who holds a lock, and nobody is disturbed by it: for an {@link InspectableStore}. */
@ContractFor(InspectableStore.class)
public interface InspectableStoreContract extends StoreContract {

    @Test
    default void givenFree_whenInspected_thenNobody(Fixture fixture) {
        List<Holder> holders = fixture.store(InspectableStore.class).holders(fixture.resource());

        assertThat(holders).isEmpty();
    }

    /** A store that writes names as bytes would show who holds another resource. */
    @Test
    default void givenAnUnpairedSurrogate_whenInspected_thenIllegalArgument(Fixture fixture) {
        assertThatThrownBy(() -> fixture.locks().holders("half\uD83D"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("surrogate");
    }

    @Test
    default void givenHeld_whenInspected_thenItsHolder(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();

        List<Holder> holders = fixture.store(InspectableStore.class).holders(fixture.resource());

        assertThat(holders).singleElement().satisfies(holder -> {
            assertThat(holder.mode()).isEqualTo(LockMode.EXCLUSIVE);
            assertThat(holder.fencingToken()).isEqualTo(lock.fencingToken());
            assertThat(holder.remaining().isPresent())
                    .isEqualTo(fixture.store().capability(ExpiringStore.class).isPresent());
        });
    }

    @Test
    default void givenHeld_whenInspected_thenTheTokenIsNotShown(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();

        List<Holder> holders = fixture.store(InspectableStore.class).holders(fixture.resource());

        assertThat(holders.toString()).doesNotContain(lock.key().token());
    }

    @Test
    default void givenHeld_whenInspected_thenItIsHeldStill(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(fixture.store(InspectableStore.class).holders(fixture.resource()))
                .hasSize(1);

        assertThat(lock.isAcquired()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
    }

    @Test
    default void givenOthersWereRefusedOrWait_whenInspected_thenOnlyTheHolder(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
        BackgroundCall<Lock> waiting = fixture.startWaiting(fixture.lock()::acquire);

        List<Holder> holders = fixture.store(InspectableStore.class).holders(fixture.resource());

        assertThat(waiting.isDone()).isFalse();
        assertThat(holders).hasSize(1);
    }

    @Test
    default void givenReleased_whenInspected_thenNobody(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.release()).isTrue();

        List<Holder> holders = fixture.store(InspectableStore.class).holders(fixture.resource());

        assertThat(holders).isEmpty();
    }

    @Test
    default void givenReaders_whenInspected_thenEachOfThem(Fixture fixture) {
        boolean shares = fixture.store().capability(SharedStore.class).isPresent();
        assertThat(fixture.lock().tryAcquireShared()).isTrue();
        assertThat(fixture.lock().tryAcquireShared()).isEqualTo(shares);

        List<Holder> holders = fixture.store(InspectableStore.class).holders(fixture.resource());

        assertThat(holders).hasSize(shares ? 2 : 1);
        assertThat(holders).extracting(Holder::mode).containsOnly(shares ? LockMode.SHARED : LockMode.EXCLUSIVE);
        assertThat(holders)
                .allSatisfy(holder ->
                        assertThat(holder.fencingToken().isPresent() && shares).isFalse());
    }
}
