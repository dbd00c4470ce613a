package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LossReason;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** To keep a lease, and to know in time that it ends, takes no thread that users may keep busy; part of {@link ExpiringStoreContract}. */
public interface FullPoolsContract extends StoreContract {

    @Test
    @RunsAlone
    @Tag("slow")
    default void givenListenersAndTheCommonPoolAreStuck_whenALeaseEnds_thenItsHolderKnowsAndOthersAreKept(
            Fixture fixture) throws Exception {
        try (BusyThreads busy = new BusyThreads();
                LockFactory locks = new LockFactory(fixture.store())) {
            busy.fillListenersOf(locks, fixture.resource() + "-other");
            busy.fillCommonPool();
            Lock kept = locks.lock(fixture.resource() + "-kept")
                    .ttl(Leases.ROOMY_TTL)
                    .autoRefresh()
                    .create();
            assertThat(kept.tryAcquire()).isTrue();
            Queue<LossReason> losses = new ConcurrentLinkedQueue<>();
            Lock holder = locks.lock(fixture.resource())
                    .ttl(Leases.ROOMY_TTL)
                    .interruptOnLoss()
                    .onLost(losses::add)
                    .create();
            InterruptedWork work = InterruptedWork.begin(fixture, holder);

            boolean acquired = fixture.lock().tryAcquire(TimeLimits.LIMIT);

            assertThat(holder.isExpired()).as("the holder knows").isTrue();
            assertThat(acquired).as("the rival holds").isTrue();
            assertThat(work.endsKnowingly()).as("the worker is interrupted").isTrue();
            assertThat(kept.isAcquired()).as("another is renewed").isTrue();
            assertThat(losses).as("while the listeners are stuck").isEmpty();
            busy.free();
            Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> !losses.isEmpty());
            assertThat(holder.release()).isFalse();
            assertThat(losses).containsExactly(LossReason.EXPIRED);
        }
    }
}
