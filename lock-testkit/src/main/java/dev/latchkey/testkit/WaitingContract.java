package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockException;
import dev.latchkey.LockFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Waiting for a lock: how {@link Lock} behaves over every store, whoever keeps the queue. */
public interface WaitingContract extends StoreContract {

    /** Long enough to really wait, short enough to wait for its end. */
    Duration SHORT_WAIT = Duration.ofMillis(60);

    /** Longer than any test. */
    Duration LONG_WAIT = Duration.ofMinutes(10);

    @Test
    default void givenHeldByOther_whenAcquireWithoutPatience_thenConflictNamesTheResource(Fixture fixture) {
        assertThat(fixture.lock().tryAcquire()).isTrue();
        Lock rival = fixture.lock();

        assertThatThrownBy(() -> rival.acquire(Duration.ZERO))
                .isInstanceOf(LockConflictedException.class)
                .hasMessageContaining(fixture.resource())
                .extracting(thrown -> ((LockException) thrown).resource())
                .isEqualTo(fixture.resource());

        assertThat(rival.isAcquired()).isFalse();
    }

    @Test
    default void givenHeldByOther_whenMaxWaitIsOver_thenConflictAndHolderHolds(Fixture fixture) {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        Lock rival = fixture.lock();

        assertThatThrownBy(() -> rival.acquire(SHORT_WAIT)).isInstanceOf(LockConflictedException.class);

        assertThat(holder.isAcquired()).isTrue();
        assertThat(rival.isAcquired()).isFalse();
    }

    @Test
    default void givenHeldByOther_whenTryAcquireWithMaxWait_thenItWaitsAndIsRefused(Fixture fixture) throws Exception {
        assertThat(fixture.lock().tryAcquire()).isTrue();
        Lock rival = fixture.lock();
        long start = System.nanoTime();

        boolean acquired = rival.tryAcquire(SHORT_WAIT);

        assertThat(acquired).isFalse();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(SHORT_WAIT.minusMillis(1));
    }

    @Test
    default void givenFree_whenTryAcquireWithMaxWait_thenAcquired(Fixture fixture) throws Exception {
        Lock lock = fixture.lock();

        boolean acquired = lock.tryAcquire(Duration.ZERO);

        assertThat(acquired).isTrue();
        assertThat(fixture.lock().tryAcquire(Duration.ZERO)).isFalse();
    }

    @Test
    default void givenFree_whenMaxWaitIsEnormous_thenAcquired(Fixture fixture) throws Exception {
        Lock lock = fixture.lock();

        boolean acquired = lock.tryAcquire(Duration.ofSeconds(Long.MAX_VALUE));

        assertThat(acquired).isTrue();
    }

    @Test
    default void givenWaiting_whenHolderReleases_thenAcquired(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = fixture.lock();
        BackgroundCall<Lock> waiting = fixture.startWaiting(waiter::acquire);
        assertThat(waiting.isDone()).isFalse();

        assertThat(holder.release()).isTrue();

        assertThat(fixture.woken(waiting)).isSameAs(waiter);
        assertThat(waiter.isAcquired()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
    }

    @Test
    default void givenWaiting_whenHolderOfAnotherFactoryReleases_thenAcquired(Fixture fixture) throws Exception {
        LockFactory others = fixture.closing(new LockFactory(fixture.store()));
        Lock holder = others.createLock(fixture.resource(), LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = fixture.lock();
        BackgroundCall<Lock> waiting = fixture.startWaiting(waiter::acquire);

        assertThat(holder.release()).isTrue();

        assertThat(fixture.woken(waiting).isAcquired()).isTrue();
    }

    @Test
    default void givenSeveralWait_whenEachReleases_thenAllGetItInTurn(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        List<BackgroundCall<Boolean>> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            Lock waiter = fixture.lock();
            waiting.add(fixture.startWaiting(() -> waiter.acquire().release()));
        }

        assertThat(holder.release()).isTrue();

        for (BackgroundCall<Boolean> waiter : waiting) {
            assertThat(fixture.woken(waiter)).isTrue();
        }
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenHeld_whenAcquireWaits_thenItIsRenewedAtOnce(Fixture fixture) throws Exception {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        BackgroundCall<Lock> rival = fixture.startWaiting(fixture.lock()::acquire);

        lock.acquire(Duration.ZERO);

        assertThat(lock.isAcquired()).isTrue();
        assertThat(lock.release()).isTrue();
        assertThat(fixture.woken(rival).isAcquired()).isTrue();
    }

    @Test
    default void givenWaiting_whenTheSameLockTriesInAnotherThread_thenRefusedAtOnce(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = fixture.lock();
        BackgroundCall<Lock> waiting = fixture.startWaiting(waiter::acquire);

        boolean acquired = waiter.tryAcquire();

        assertThat(acquired).isFalse();
        assertThat(holder.release()).isTrue();
        assertThat(fixture.woken(waiting).isAcquired()).isTrue();
    }

    @Test
    default void givenWaiting_whenAnotherResourceIsAsked_thenItIsNotHeldUp(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = fixture.startWaiting(fixture.lock()::acquire);
        Lock other = fixture.locks().createLock(fixture.resource() + "-other", LONG_TTL);

        boolean acquired = other.tryAcquire(LONG_WAIT);

        assertThat(acquired).isTrue();
        assertThat(waiting.isDone()).isFalse();
        assertThat(holder.release()).isTrue();
        assertThat(fixture.woken(waiting).release()).isTrue();
    }
}
