package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockMode;
import dev.latchkey.spi.QueuedWaiter;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.WaiterListingStore;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** People can look who waits for a lock, and nobody is disturbed by it: for a {@link WaiterListingStore}. */
@ContractFor(WaiterListingStore.class)
public interface WaiterListingStoreContract extends StoreContract {

    @Test
    default void givenNobodyWaits_whenItsQueueIsListed_thenNobody(Fixture fixture) {
        WaiterListingStore store = fixture.store(WaiterListingStore.class);
        assertThat(store.waiters(fixture.resource())).isEmpty();

        assertThat(fixture.lock().tryAcquire()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();

        assertThat(store.waiters(fixture.resource())).isEmpty();
    }

    @Test
    default void givenTwoWait_whenItsQueueIsListed_thenTheFirstComesFirst(Fixture fixture) throws Exception {
        WaiterListingStore store = fixture.store(WaiterListingStore.class);
        boolean shares = fixture.store().capability(SharedStore.class).isPresent();
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        Lock writer = fixture.lock();
        BackgroundCall<Lock> first = fixture.start(writer::acquire);
        awaitWaiters(store, fixture.resource(), 1);
        Lock reader = fixture.lock();
        BackgroundCall<Lock> second = fixture.start(reader::acquireShared);
        awaitWaiters(store, fixture.resource(), 2);

        List<QueuedWaiter> waiting = store.waiters(fixture.resource());

        assertThat(waiting)
                .extracting(QueuedWaiter::mode)
                .containsExactly(LockMode.EXCLUSIVE, shares ? LockMode.SHARED : LockMode.EXCLUSIVE);
        assertThat(waiting.toString())
                .doesNotContain(writer.key().token())
                .doesNotContain(reader.key().token());
        assertThat(holder.isAcquired()).isTrue();
        assertThat(holder.release()).isTrue();
        assertThat(fixture.woken(first).release()).isTrue();
        assertThat(fixture.woken(second).release()).isTrue();
        assertThat(store.waiters(fixture.resource())).isEmpty();
    }

    private static void awaitWaiters(WaiterListingStore store, String resource, int count) {
        Awaitility.await("a queue of " + count)
                .atMost(TimeLimits.LIMIT)
                .until(() -> store.waiters(resource).size() == count);
    }
}
