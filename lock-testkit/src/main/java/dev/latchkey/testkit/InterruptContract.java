package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.spi.Response;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Interruption is exact: what does not wait works with the flag set and keeps it; what waits ends, and leaves all as it
 * was.
 */
public interface InterruptContract extends StoreContract {

    @Test
    default void givenInterruptFlag_whenStoreIsAsked_thenItWorksAndKeepsTheFlag(Fixture fixture) throws Exception {
        Key key = fixture.key();

        BackgroundCall<Boolean> call = interrupted(fixture, () -> {
            assertThat(fixture.store().save(exclusive(key))).isInstanceOf(Response.Granted.class);
            assertThat(fixture.store().find(key)).isPresent();
            assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
            assertThat(fixture.store().delete(key)).isTrue();
            return Thread.currentThread().isInterrupted();
        });

        assertThat(call.result()).isTrue();
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenInterruptFlag_whenTryAcquire_thenAcquiredAndFlagKept(Fixture fixture) throws Exception {
        Lock lock = fixture.lock();

        BackgroundCall<Boolean> call = interrupted(
                fixture, () -> lock.tryAcquire() && Thread.currentThread().isInterrupted());

        assertThat(call.result()).isTrue();
        assertThat(lock.isAcquired()).isTrue();
    }

    @Test
    default void givenInterruptFlag_whenRefreshedAskedAndReleased_thenFlagKept(Fixture fixture) throws Exception {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();

        BackgroundCall<Boolean> call = interrupted(fixture, () -> {
            lock.refresh();
            assertThat(lock.isAcquired()).isTrue();
            assertThat(lock.release()).isTrue();
            return Thread.currentThread().isInterrupted();
        });

        assertThat(call.result()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenInterruptFlag_whenAcquire_thenInterruptedAndNothingHeld(Fixture fixture) {
        Lock lock = fixture.lock();

        BackgroundCall<Lock> call = interrupted(fixture, lock::acquire);

        assertThatThrownBy(call::result).isInstanceOf(InterruptedException.class);
        assertThat(lock.isAcquired()).isFalse();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenInterruptFlagAndHeld_whenAcquire_thenInterruptedAndHeldStill(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();

        BackgroundCall<Lock> call = interrupted(fixture, lock::acquire);

        assertThatThrownBy(call::result).isInstanceOf(InterruptedException.class);
        assertThat(lock.isAcquired()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
    }

    @Test
    default void givenWaiting_whenInterrupted_thenInterruptedAndNothingHeld(Fixture fixture) {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = fixture.lock();
        BackgroundCall<Lock> waiting = fixture.startWaiting(waiter::acquire);

        waiting.interrupt();

        assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
        assertThat(waiter.isAcquired()).isFalse();
        assertThat(holder.isAcquired()).isTrue();
    }

    @Test
    default void givenAWaiterWasInterrupted_whenHolderReleases_thenTheNextGetsIt(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> first = fixture.startWaiting(fixture.lock()::acquire);
        BackgroundCall<Lock> second = fixture.startWaiting(fixture.lock()::acquire);
        first.interrupt();
        assertThatThrownBy(first::result).isInstanceOf(InterruptedException.class);

        assertThat(holder.release()).isTrue();

        assertThat(fixture.woken(second).isAcquired()).isTrue();
    }

    @Test
    default void givenWasInterrupted_whenAcquiredAgain_thenHeld(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = fixture.lock();
        BackgroundCall<Lock> waiting = fixture.startWaiting(waiter::acquire);
        waiting.interrupt();
        assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
        assertThat(holder.release()).isTrue();

        waiter.acquire();

        assertThat(waiter.isAcquired()).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenReleaseAndInterruptCross_whenTheWaitEnds_thenItHoldsOrHoldsNothing(Fixture fixture)
            throws Exception {
        for (int i = 0; i < 50; i++) {
            Lock holder = fixture.lock();
            assertThat(holder.tryAcquire()).isTrue();
            Lock waiter = fixture.lock();
            BackgroundCall<Lock> waiting = fixture.startWaiting(waiter::acquire);
            BackgroundCall<Boolean> releasing = fixture.start(holder::release);
            spin(ThreadLocalRandom.current().nextInt(20_000));

            waiting.interrupt();

            assertThat(releasing.result()).isTrue();
            boolean holds = endsHolding(waiting);
            assertThat(waiter.isAcquired()).isEqualTo(holds);
            Lock next = fixture.lock();
            assertThat(next.tryAcquire()).isEqualTo(!holds);
            assertThat(waiter.release()).isEqualTo(holds);
            assertThat(next.release()).isEqualTo(!holds);
        }
    }

    private static boolean endsHolding(BackgroundCall<Lock> waiting) throws Exception {
        try {
            waiting.result();
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    /** Passes a little time, for races that must not always end alike. */
    static void spin(int times) {
        for (int i = 0; i < times; i++) {
            Thread.onSpinWait();
        }
    }

    private static <T> BackgroundCall<T> interrupted(Fixture fixture, Callable<T> call) {
        return fixture.start(() -> {
            Thread.currentThread().interrupt();
            return call.call();
        });
    }
}
