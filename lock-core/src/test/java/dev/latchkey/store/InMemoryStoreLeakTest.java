package dev.latchkey.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

class InMemoryStoreLeakTest {

    private final InMemoryStore store = new InMemoryStore();
    private final LockFactory locks = new LockFactory(store);

    @Test
    void givenManyResources_whenReleased_thenNothingIsKept() {
        for (int i = 0; i < 10_000; i++) {
            try (Lock lock = locks.createLock("resource " + i)) {
                assertThat(lock.tryAcquire()).isTrue();
            }
        }

        assertThat(store.size()).isZero();
    }

    @Test
    void givenFailedTriesAndEndedWaits_thenNothingIsKeptOnceTheHolderIsGone() throws Exception {
        Lock holder = locks.createLock("x");
        assertThat(holder.tryAcquire()).isTrue();
        assertThat(locks.createLock("x").tryAcquire()).isFalse();
        assertThat(locks.createLock("x").tryAcquire(Duration.ofMillis(5))).isFalse();
        FutureTask<Boolean> interrupted =
                new FutureTask<>(() -> locks.createLock("x").tryAcquire(Duration.ofMinutes(1)));
        Thread waiter = new Thread(interrupted);
        waiter.start();
        while (!isInTheQueue(waiter)) {
            Thread.onSpinWait();
        }
        waiter.interrupt();
        waiter.join();
        assertThatThrownBy(interrupted::get).hasCauseInstanceOf(InterruptedException.class);

        holder.release();

        assertThat(store.size()).isZero();
    }

    /** A thread may also wait on its way there, as for a class: interrupted then, it would leave no trace anyway. */
    private static boolean isInTheQueue(Thread waiter) {
        boolean waits = waiter.getState() == Thread.State.TIMED_WAITING || waiter.getState() == Thread.State.WAITING;
        return waits
                && Arrays.stream(waiter.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().equals(LockEntry.class.getName()));
    }

    @Test
    void givenLeasesThatNobodyReleases_whenTheirRetentionIsOver_thenTheyAreForgotten() {
        InMemoryStore forgetful = new InMemoryStore(Duration.ZERO);

        for (int i = 0; i < 100_000; i++) {
            forgetful.save(
                    new Request(Key.of("resource " + i), LockMode.EXCLUSIVE, Duration.ofMillis(5), RetryIntent.ONCE));
        }

        assertThat(forgetful.size()).isLessThan(50_000);
    }

    @Test
    void givenStoreClosed_thenNothingIsKept() {
        assertThat(locks.createLock("x").tryAcquire()).isTrue();

        store.close();

        assertThat(store.size()).isZero();
    }

    @Test
    void givenHoldsEndedByForce_whenTheirRetentionIsOver_thenTheyAreForgotten() {
        InMemoryStore forgetful = new InMemoryStore(Duration.ZERO);

        for (int i = 0; i < 100_000; i++) {
            Request request =
                    new Request(Key.of("resource " + i), LockMode.EXCLUSIVE, Duration.ofDays(1), RetryIntent.ONCE);
            Response.Granted granted = (Response.Granted) forgetful.save(request);
            assertThat(forgetful.forceRelease(
                            "resource " + i, granted.fencingToken().orElseThrow()))
                    .isTrue();
        }

        assertThat(forgetful.size()).isLessThan(50_000);
    }
}
