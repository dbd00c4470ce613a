package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.WaitingContract.LONG_WAIT;
import static dev.latchkey.testkit.WaitingContract.SHORT_WAIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Acquires that do not make their caller wait end as the others do, and leave nothing when they are cancelled. */
public interface AsyncLockContract extends StoreContract {

    /**
     * Returns how often a cancellation races with a grant.
     *
     * @return 200 unless overridden
     */
    default int cancellationRaces() {
        return 200;
    }

    @Test
    default void givenFree_whenAcquiredAsync_thenHeld(Fixture fixture) throws Exception {
        Lock lock = fixture.lock();

        Lock acquired = result(lock.acquireAsync(LONG_WAIT));

        assertThat(acquired).isSameAs(lock);
        assertThat(lock.isAcquired()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
        assertThat(result(lock.releaseAsync())).isTrue();
        assertThat(result(lock.releaseAsync())).isFalse();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenHeldByAnother_whenItIsReleased_thenTheWaiterHolds(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = fixture.lock();
        CompletableFuture<Lock> waiting = waiter.acquireAsync(LONG_WAIT);
        assertThat(waiting).isNotDone();

        assertThat(result(holder.releaseAsync())).isTrue();

        assertThat(result(waiting).isAcquired()).isTrue();
    }

    @Test
    default void givenHeldByAnother_whenTheMaxWaitIsOver_thenAConflict(Fixture fixture) {
        assertThat(fixture.lock().tryAcquire()).isTrue();

        assertThatThrownBy(() -> result(fixture.lock().acquireAsync(SHORT_WAIT)))
                .isInstanceOf(LockConflictedException.class);
        assertThatThrownBy(() -> result(fixture.lock().acquireAsync(Duration.ZERO)))
                .isInstanceOf(LockConflictedException.class);
    }

    @Test
    default void givenANegativeMaxWait_whenAcquiredAsync_thenRefusedAtOnce(Fixture fixture) {
        Lock lock = fixture.lock();

        assertThatThrownBy(() -> lock.acquireAsync(Duration.ofNanos(-1))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    default void givenItInterruptsOnLoss_whenAcquiredAsync_thenRefusedAtOnce(Fixture fixture) {
        Lock lock = fixture.locks().lock(fixture.resource()).interruptOnLoss().create();

        assertThatThrownBy(() -> lock.acquireAsync(LONG_WAIT)).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    default void givenHeld_whenRefreshedAsync_thenHeldOn(Fixture fixture) throws Exception {
        Lock lock = fixture.lock();
        assertThatThrownBy(() -> result(lock.refreshAsync())).isInstanceOf(IllegalStateException.class);
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(result(lock.refreshAsync())).isSameAs(lock);

        assertThat(lock.isAcquired()).isTrue();
        assertThat(fixture.store().delete(lock.key())).isTrue();
        assertThatThrownBy(() -> result(lock.refreshAsync())).isInstanceOf(LockLostException.class);
    }

    @Test
    default void givenWaiting_whenCancelled_thenItLeavesTheLine(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = fixture.lock();
        CompletableFuture<Lock> waiting = waiter.acquireAsync(LONG_WAIT);
        CompletableFuture<Lock> next = fixture.lock().acquireAsync(LONG_WAIT);

        assertThat(waiting.cancel(true)).isTrue();
        assertThat(holder.release()).isTrue();

        assertThat(result(next).isAcquired()).isTrue();
        assertThat(waiter.isAcquired()).isFalse();
        assertThat(next.get().release()).isTrue();
        assertThat(fixture.lock().tryAcquire(LONG_WAIT)).isTrue();
    }

    @Test
    default void givenWaiting_whenCompletedByATimeout_thenItLeavesTheLine(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        CompletableFuture<Lock> waiting = fixture.lock().acquireAsync(LONG_WAIT);

        assertThatThrownBy(() -> result(waiting.orTimeout(1, TimeUnit.MILLISECONDS)))
                .isInstanceOf(TimeoutException.class);

        assertThat(holder.release()).isTrue();
        assertThat(fixture.lock().tryAcquire(LONG_WAIT)).isTrue();
    }

    @Test
    default void givenHeldBefore_whenAnAcquireOfItIsCancelled_thenHeldStill(Fixture fixture) throws Exception {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();

        CompletableFuture<Lock> again = lock.acquireAsync(LONG_WAIT);
        again.cancel(true);

        // In the turn of the Lock, and therefore after it.
        assertThat(lock.refresh().isAcquired()).isTrue();
        assertThat(lock.release()).isTrue();
    }

    @Test
    default void givenWaiting_whenReleasedOrTheFactoryIsClosed_thenItEndsAndNothingIsHeld(Fixture fixture)
            throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        LockFactory others = fixture.closing(new LockFactory(fixture.store()));
        Lock one = others.createLock(fixture.resource(), LONG_TTL);
        Lock two = others.createLock(fixture.resource(), LONG_TTL);
        CompletableFuture<Lock> waits = two.acquireAsync(LONG_WAIT);
        CompletableFuture<Lock> released = one.acquireAsync(LONG_WAIT);

        // As often as it takes: the wait may not have begun.
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> !one.release() && released.isDone());
        assertThatThrownBy(() -> result(released)).isInstanceOf(LockConflictedException.class);
        others.close();

        assertThatThrownBy(() -> result(waits))
                .isInstanceOfAny(LockConflictedException.class, IllegalStateException.class);
        assertThatThrownBy(() -> result(two.acquireAsync(LONG_WAIT))).isInstanceOf(IllegalStateException.class);
        assertThat(holder.release()).isTrue();
        assertThat(fixture.lock().tryAcquire(LONG_WAIT)).isTrue();
    }

    @Test
    default void givenManyWaiters_whenEachReleasesAfterTheOther_thenEachHasHeldAlone(Fixture fixture) throws Exception {
        Lock first = fixture.lock();
        assertThat(first.tryAcquire()).isTrue();
        AtomicInteger inside = new AtomicInteger();
        List<CompletableFuture<Integer>> waiting = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            waiting.add(fixture.lock().acquireAsync(LONG_WAIT).thenCompose(lock -> {
                int others = inside.getAndIncrement();
                inside.decrementAndGet();
                return lock.releaseAsync().thenApply(wasHeld -> wasHeld ? others : -1);
            }));
        }

        assertThat(first.release()).isTrue();

        for (CompletableFuture<Integer> wait : waiting) {
            assertThat(result(wait)).isZero();
        }
    }

    @Test
    @Tag("slow")
    default void givenCancelledAtAnyMoment_whenGrantedMeanwhile_thenNothingIsHeldByIt(Fixture fixture)
            throws Exception {
        int races = cancellationRaces();
        CyclicBarrier start = new CyclicBarrier(2);
        List<CompletableFuture<Lock>> raced = new ArrayList<>();
        BackgroundCall<Integer> canceller = fixture.start(() -> {
            int cancelled = 0;
            for (int i = 0; i < races; i++) {
                start.await();
                LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(400_000));
                cancelled += raced.get(i).cancel(true) ? 1 : 0;
                start.await();
            }
            return cancelled;
        });

        int held = 0;
        for (int i = 0; i < races; i++) {
            Lock holder = fixture.lock();
            // Free as soon as what the race before has left is given back.
            assertThat(holder.tryAcquire(TimeLimits.LIMIT)).as("race " + i).isTrue();
            Lock lock = fixture.lock();
            boolean isFree = i % 2 == 0;
            if (isFree) {
                assertThat(holder.release()).isTrue();
            }
            CompletableFuture<Lock> acquiring = lock.acquireAsync(LONG_WAIT);
            raced.add(acquiring);
            start.await();
            if (!isFree) {
                assertThat(holder.release()).isTrue();
            }
            start.await();
            if (!acquiring.isCancelled()) {
                held++;
                assertThat(acquiring.get().release()).isTrue();
            }
        }

        assertThat(canceller.result() + held).isEqualTo(races);
        assertThat(fixture.lock().tryAcquire(TimeLimits.LIMIT)).isTrue();
    }

    /** Throws what the future failed with. */
    private static <T> T result(CompletableFuture<T> future) throws Exception {
        try {
            return future.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw e;
        }
    }
}
