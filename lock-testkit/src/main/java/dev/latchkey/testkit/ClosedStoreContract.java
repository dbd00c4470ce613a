package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LossReason;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.StoreProvider;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A store that is closed ends its holds, and their holders know it first; part of the contracts of stores without leases. */
public interface ClosedStoreContract extends ProcessesContract {

    @Test
    default void givenHeld_whenTheStoreIsClosedAndARivalHolds_thenTheHolderKnewAndIsToldOnce(Fixture fixture)
            throws Exception {
        Queue<LossReason> losses = new ConcurrentLinkedQueue<>();
        PersistingStore store = fixture.closing(StoreProvider.connect(dsn()));
        try (LockFactory locks = new LockFactory(store)) {
            Lock holder = locks.lock(fixture.resource()).onLost(losses::add).create();
            assertThat(holder.tryAcquire()).isTrue();
            BackgroundCall<Boolean> knew = fixture.startWaiting(() -> {
                fixture.lock().acquire();
                return holder.isExpired();
            });

            store.close();

            assertThat(knew.result()).as("the holder knows").isTrue();
            Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> !losses.isEmpty());
            assertThat(holder.release()).isFalse();
        }
        assertThat(losses).containsExactly(LossReason.STORE_CLOSED);
    }
}
