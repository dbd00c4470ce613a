package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** First come, first served among the threads of one JVM: for a store that promises it. */
public interface FairStoreContract extends StoreContract {

    @Test
    default void givenSeveralWait_whenTheHolderReleases_thenTheyGetItInTheOrderTheyCame(Fixture fixture)
            throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        List<Integer> order = new CopyOnWriteArrayList<>();
        List<BackgroundCall<Boolean>> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            int number = i;
            Lock waiter = fixture.lock();
            waiting.add(fixture.startWaiting(() -> {
                waiter.acquire();
                order.add(number);
                return waiter.release();
            }));
        }

        assertThat(holder.release()).isTrue();

        for (BackgroundCall<Boolean> call : waiting) {
            assertThat(fixture.woken(call)).isTrue();
        }
        assertThat(order).containsExactly(0, 1, 2, 3, 4);
    }

    @Test
    default void givenOneWaits_whenTheHolderWantsItBack_thenItQueuesBehind(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = fixture.lock();
        BackgroundCall<Lock> waiting = fixture.startWaiting(waiter::acquire);

        assertThat(holder.release()).isTrue();
        BackgroundCall<Lock> again = fixture.startWaiting(holder::acquire);

        assertThat(fixture.woken(waiting)).isSameAs(waiter);
        assertThat(again.isDone()).isFalse();
        assertThat(waiter.release()).isTrue();
        assertThat(fixture.woken(again)).isSameAs(holder);
    }

    @Test
    default void givenAWriterWaitsBehindAReader_whenAnotherReaderComes_thenItDoesNotOvertake(Fixture fixture)
            throws Exception {
        Lock reader = fixture.lock();
        assertThat(reader.tryAcquireShared()).isTrue();
        Lock writer = fixture.lock();
        BackgroundCall<Lock> writing = fixture.startWaiting(writer::acquire);
        BackgroundCall<Lock> late = fixture.startWaiting(fixture.lock()::acquireShared);
        assertThat(late.isDone()).isFalse();

        assertThat(reader.release()).isTrue();

        assertThat(fixture.woken(writing)).isSameAs(writer);
        assertThat(late.isDone()).isFalse();
        assertThat(writer.release()).isTrue();
        assertThat(fixture.woken(late).isAcquired()).isTrue();
    }
}
