package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.WaitingContract.LONG_WAIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whatever users do in dependent actions, and with futures that they do not need any more, other acquires are served. */
public interface AsyncDependentsContract extends StoreContract {

    /**
     * Returns how often the close of a factory races with an acquire.
     *
     * @return 200 unless overridden
     */
    default int closingRaces() {
        return 200;
    }

    @Test
    default void givenHeld_whenReleasedTwiceAtOnce_thenOneOfThemHasReleasedIt(Fixture fixture) throws Exception {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();

        List<CompletableFuture<Boolean>> releases =
                Stream.generate(lock::releaseAsync).limit(2).toList();

        assertThat(List.of(ended(releases.get(0)), ended(releases.get(1)))).containsExactlyInAnyOrder(true, false);
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenHeld_whenAReleaseIsCancelledAtOnce_thenReleasedAllTheSame(Fixture fixture) throws Exception {
        // The first ones may have to wait for a thread, and are cancelled before they have one.
        for (int i = 0; i < 20; i++) {
            Lock lock = fixture.lock();
            assertThat(lock.tryAcquire(TimeLimits.LIMIT)).as("time " + i).isTrue();
            CompletableFuture<?> ending = i % 2 == 0 ? lock.releaseAsync() : lock.closeAsync();

            ending.cancel(true);
        }

        assertThat(fixture.lock().tryAcquire(TimeLimits.LIMIT)).isTrue();
    }

    @Test
    default void givenADependentFails_whenGranted_thenHeldAndTheNextIsServed(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        Lock first = fixture.lock();
        CompletableFuture<Lock> granted = first.acquireAsync(LONG_WAIT);
        CompletableFuture<Object> failing = granted.thenApply(lock -> {
            throw new IllegalStateException("planned");
        });
        assertThat(holder.release()).isTrue();

        assertThatThrownBy(() -> ended(failing)).hasRootCauseMessage("planned");

        assertThat(first.isAcquired()).isTrue();
        CompletableFuture<Lock> next = fixture.lock().acquireAsync(LONG_WAIT);
        assertThat(ended(first.releaseAsync())).isTrue();
        assertThat(ended(next).isAcquired()).isTrue();
    }

    @Test
    default void givenDependentsThatDoNotReturn_whenAnotherLockIsReleased_thenItsWaiterIsGranted(Fixture fixture)
            throws Exception {
        CountDownLatch inside = new CountDownLatch(30);
        CountDownLatch end = new CountDownLatch(1);
        List<CompletableFuture<Boolean>> stuck = new ArrayList<>();
        try {
            for (int i = 0; i < 30; i++) {
                Lock lock = fixture.locks().createLock(fixture.resource() + "-" + i, LONG_TTL);
                Lock before = fixture.locks().createLock(fixture.resource() + "-" + i, LONG_TTL);
                assertThat(before.tryAcquire()).isTrue();
                stuck.add(lock.acquireAsync(LONG_WAIT).thenApply(held -> sit(held, inside, end)));
                assertThat(before.release()).isTrue();
            }
            assertThat(inside.await(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            Lock holder = fixture.lock();
            assertThat(holder.tryAcquire()).isTrue();
            CompletableFuture<Lock> waiting = fixture.lock().acquireAsync(LONG_WAIT);

            assertThat(ended(holder.releaseAsync())).isTrue();

            assertThat(ended(waiting).isAcquired()).isTrue();
        } finally {
            end.countDown();
        }
        for (CompletableFuture<Boolean> one : stuck) {
            assertThat(ended(one)).isTrue();
        }
    }

    private static boolean sit(Lock held, CountDownLatch inside, CountDownLatch end) {
        inside.countDown();
        try {
            return end.await(5 * TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS) && held.release();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Test
    @RunsAlone
    default void givenTheCommonPoolIsStuck_whenOneIsCancelledAndOneGranted_thenServed(Fixture fixture)
            throws Exception {
        try (BusyThreads busy = new BusyThreads()) {
            busy.fillCommonPool();
            Lock holder = fixture.lock();
            assertThat(holder.tryAcquire()).isTrue();
            CompletableFuture<Lock> cancelled = fixture.lock().acquireAsync(LONG_WAIT);
            CompletableFuture<Lock> waiting = fixture.lock().acquireAsync(LONG_WAIT);

            cancelled.cancel(true);
            assertThat(ended(holder.releaseAsync())).isTrue();

            assertThat(ended(waiting).isAcquired()).isTrue();
        }
    }

    @Test
    @Tag("slow")
    default void givenTheFactoryIsClosedAtAnyMoment_whenAcquiring_thenTheCallEndsAndNothingIsHeld(Fixture fixture)
            throws Exception {
        AtomicInteger granted = new AtomicInteger();
        for (int i = 0; i < closingRaces(); i++) {
            LockFactory closing = new LockFactory(fixture.store()).withoutShutdownHook();
            Lock holder = fixture.lock();
            assertThat(holder.tryAcquire(TimeLimits.LIMIT)).as("race " + i).isTrue();
            boolean isFree = i % 2 == 0;
            if (isFree) {
                assertThat(holder.release()).isTrue();
            }
            CompletableFuture<Lock> acquiring =
                    closing.createLock(fixture.resource(), LONG_TTL).acquireAsync(LONG_WAIT);
            LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(600_000));
            CompletableFuture<Boolean> releasing =
                    isFree ? CompletableFuture.completedFuture(true) : holder.releaseAsync();

            closing.close();

            assertThat(ended(releasing)).isTrue();
            granted.addAndGet(ended(acquiring.handle((lock, failure) -> failure == null ? 1 : 0)));
        }

        assertThat(fixture.lock().tryAcquire(TimeLimits.LIMIT)).isTrue();
        assertThat(granted).hasValueLessThan(closingRaces());
    }

    /** What the cancelled call gives back is not what the next call of this Lock was granted. */
    @Test
    @Tag("slow")
    default void givenCancelledAtAnyMoment_whenTheSameLockAcquiresAtOnce_thenItStaysHeld(Fixture fixture)
            throws Exception {
        for (int i = 0; i < 2 * closingRaces(); i++) {
            Lock holder = fixture.lock();
            assertThat(holder.tryAcquire(TimeLimits.LIMIT)).as("race " + i).isTrue();
            Lock lock = fixture.lock();
            CompletableFuture<Lock> cancelled = lock.acquireAsync(LONG_WAIT);
            CompletableFuture<Boolean> releasing = holder.releaseAsync();
            LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(400_000));

            cancelled.cancel(true);
            Lock held = ended(lock.acquireAsync(LONG_WAIT));

            assertThat(ended(releasing)).isTrue();
            LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(2_000_000));
            assertThat(held.isAcquired()).as("race " + i).isTrue();
            assertThat(held.release()).isTrue();
        }
    }

    private static <T> T ended(CompletableFuture<T> future) throws Exception {
        return future.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
    }
}
