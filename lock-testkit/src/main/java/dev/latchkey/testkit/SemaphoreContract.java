package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Capability;
import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockConflictedException.Reason;
import dev.latchkey.LockFactory;
import dev.latchkey.semaphore.Permit;
import dev.latchkey.semaphore.Semaphore;
import dev.latchkey.spi.SemaphoreStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Counting semaphores, of which never more permits are held than there are: for a {@link SemaphoreStore}. */
@ContractFor(SemaphoreStore.class)
public interface SemaphoreContract extends SemaphoreLeaseContract, PermitStoreContract {

    @Test
    default void givenASemaphoreStore_thenTheFactorySupportsSemaphores(Fixture fixture) {
        assertThat(fixture.locks().supports(Capability.SEMAPHORES)).isTrue();
    }

    @Test
    default void givenAllPermitsAreHeld_whenOneIsReleased_thenOneCanBeAcquired(Fixture fixture) {
        Semaphore semaphore = Semaphores.of(fixture, 2);
        Permit first = Semaphores.acquired(semaphore, 1);
        Permit second = Semaphores.acquired(semaphore, 1);
        assertThat(semaphore.tryAcquire()).isEmpty();

        assertThat(first.release()).isTrue();

        Permit third = Semaphores.acquired(semaphore, 1);
        assertThat(semaphore.tryAcquire()).isEmpty();
        assertThat(second.release()).isTrue();
        assertThat(third.release()).isTrue();
    }

    @Test
    default void givenSomePermitsAreHeld_whenMoreAreWantedThanAreFree_thenNoneAreAcquired(Fixture fixture) {
        Semaphore semaphore = Semaphores.of(fixture, 5);
        Permit three = Semaphores.acquired(semaphore, 3);

        assertThat(semaphore.tryAcquire(3)).isEmpty();

        assertThat(semaphore.available()).isEqualTo(2);
        Permit two = Semaphores.acquired(semaphore, 2);
        assertThat(semaphore.available()).isZero();
        assertThat(three.count()).isEqualTo(3);
        assertThat(two.release()).isTrue();
        assertThat(semaphore.available()).isEqualTo(2);
        assertThat(three.release()).isTrue();
    }

    @Test
    default void givenNumbersOutOfRange_whenUsed_thenTheyAreRefused(Fixture fixture) {
        Semaphore semaphore = Semaphores.of(fixture, 2);

        assertThatIllegalArgumentException().isThrownBy(() -> semaphore.tryAcquire(0));
        assertThatIllegalArgumentException().isThrownBy(() -> semaphore.tryAcquire(3));
        assertThatIllegalArgumentException().isThrownBy(() -> semaphore.acquire(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> Semaphores.of(fixture, 0));
        assertThat(semaphore.available()).isEqualTo(2);
    }

    @Test
    default void givenAPermitWasReleased_whenReleasedAgain_thenNothingChanges(Fixture fixture) {
        Semaphore semaphore = Semaphores.of(fixture, 1);
        Permit permit = Semaphores.acquired(semaphore, 1);
        assertThat(permit.release()).isTrue();

        assertThat(permit.release()).isFalse();
        permit.close();

        assertThat(permit.isHeld()).isFalse();
        assertThat(semaphore.available()).isEqualTo(1);
        assertThatThrownBy(permit::refresh).isInstanceOf(IllegalStateException.class);
    }

    @Test
    default void givenNoPermitIsFree_whenTheWaitIsOver_thenNothingIsAcquired(Fixture fixture) throws Exception {
        Semaphore semaphore = Semaphores.of(fixture, 1);
        Permit permit = Semaphores.acquired(semaphore, 1);

        assertThat(semaphore.tryAcquire(1, Duration.ofMillis(50))).isEmpty();
        assertThatThrownBy(() -> semaphore.acquire(1, Duration.ofMillis(50)))
                .isInstanceOf(LockConflictedException.class)
                .hasMessageContaining("1 of 1 permits")
                .hasMessageContaining("not free within PT0.05S");

        assertThat(permit.release()).isTrue();
        assertThat(semaphore.available()).isEqualTo(1);
    }

    @Test
    default void givenOneWaits_whenPermitsAreReleased_thenItAcquiresThem(Fixture fixture) throws Exception {
        Semaphore semaphore = Semaphores.of(fixture, 3);
        Permit one = Semaphores.acquired(semaphore, 1);
        Permit two = Semaphores.acquired(semaphore, 2);
        BackgroundCall<Permit> waiting = fixture.startWaiting(() -> semaphore.acquire(3));

        assertThat(one.release()).isTrue();
        assertThat(waiting.isDone()).isFalse();
        assertThat(two.release()).isTrue();

        Permit three = waiting.result();
        assertThat(three.isHeld()).isTrue();
        assertThat(semaphore.available()).isZero();
        assertThat(three.release()).isTrue();
    }

    @Test
    default void givenOneWaits_whenInterrupted_thenItHoldsNothing(Fixture fixture) throws Exception {
        Semaphore semaphore = Semaphores.of(fixture, 1);
        Permit permit = Semaphores.acquired(semaphore, 1);
        BackgroundCall<Permit> waiting = fixture.startWaiting(semaphore::acquire);

        waiting.interrupt();

        assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
        assertThat(permit.release()).isTrue();
        assertThat(semaphore.available()).isEqualTo(1);
        Semaphores.acquired(semaphore, 1).close();
    }

    @Test
    default void givenAnInterruptedThread_whenItAcquires_thenItIsToldAndHoldsNothing(Fixture fixture) {
        Semaphore semaphore = Semaphores.of(fixture, 1);
        Thread.currentThread().interrupt();

        assertThatThrownBy(semaphore::acquire).isInstanceOf(InterruptedException.class);

        assertThat(Thread.interrupted()).isFalse();
        assertThat(semaphore.available()).isEqualTo(1);
    }

    @Test
    default void givenOneWaits_whenTheFactoryIsClosed_thenTheWaitEndsAndPermitsAreReleased(Fixture fixture)
            throws Exception {
        LockFactory other = fixture.closing(new LockFactory(fixture.store()));
        Semaphore semaphore = other.semaphore(fixture.resource(), 1).create();
        Permit permit = Semaphores.acquired(semaphore, 1);
        BackgroundCall<Permit> waiting = fixture.startWaiting(semaphore::acquire);

        other.close();

        assertThatThrownBy(waiting::result)
                .isInstanceOfSatisfying(
                        LockConflictedException.class,
                        e -> assertThat(e.reason()).isEqualTo(Reason.CLOSED_WHILE_WAITING));
        assertThat(permit.remainingLifetime()).isZero();
        assertThat(Semaphores.of(fixture, 1).available()).isEqualTo(1);
        assertThatThrownBy(semaphore::tryAcquire).isInstanceOf(IllegalStateException.class);
    }

    @Test
    default void givenALockOfTheSameName_whenBothAreAcquired_thenNeitherKnowsTheOther(Fixture fixture) {
        Semaphore semaphore = Semaphores.of(fixture, 1);
        Permit permit = Semaphores.acquired(semaphore, 1);

        assertThat(fixture.lock().tryAcquire()).isTrue();

        assertThat(permit.release()).isTrue();
        assertThat(semaphore.available()).isEqualTo(1);
    }

    @Test
    default void givenNamesOfAllKinds_whenAcquired_thenEachIsASemaphoreOfItsOwn(Fixture fixture) {
        List<Permit> held = new ArrayList<>();
        for (String name :
                List.of("", " ", "a (2 of 5 permits)", "{x}", "}", "=", "ünï\uD83D\uDE00", "line\nbreak", "*")) {
            Semaphore semaphore = fixture.locks()
                    .semaphore(fixture.resource() + name, 1)
                    .ttl(LONG_TTL)
                    .create();
            held.add(Semaphores.acquired(semaphore, 1));
            assertThat(semaphore.tryAcquire()).as(name).isEmpty();
            assertThat(semaphore.name()).endsWith(name);
        }
        assertThat(held).allMatch(Permit::release);
    }

    @Test
    default void givenALockOverPermits_whenAcquiredInEitherMode_thenItHoldsThem(Fixture fixture) {
        Semaphore semaphore = Semaphores.of(fixture, 3);
        Lock two =
                fixture.locks().permits(fixture.resource(), 3, 2).ttl(LONG_TTL).create();
        Lock one =
                fixture.locks().permits(fixture.resource(), 3, 1).ttl(LONG_TTL).create();

        assertThat(two.tryAcquire()).isTrue();
        assertThat(one.tryAcquireShared()).isTrue();

        assertThat(semaphore.available()).isZero();
        assertThat(two.fencingToken()).isEmpty();
        assertThat(two.tryAcquire()).as("it holds them already").isTrue();
        assertThat(two.isAcquired()).isTrue();
        assertThat(semaphore.available()).isZero();
        assertThat(one.release()).isTrue();
        assertThat(two.release()).isTrue();
        assertThat(semaphore.available()).isEqualTo(3);
    }

    @Test
    default void givenALockOverPermits_whenItsKeyIsTransferred_thenTheReceiverRefreshesAndReleases(Fixture fixture) {
        Semaphore semaphore = Semaphores.of(fixture, 3);
        Lock lock =
                fixture.locks().permits(fixture.resource(), 3, 2).ttl(LONG_TTL).create();
        assertThat(lock.tryAcquire()).isTrue();
        LockFactory receivers = fixture.closing(new LockFactory(fixture.store()));

        Lock received = receivers.permits(lock.transferKey()).ttl(LONG_TTL).create();

        assertThat(lock.release()).isFalse();
        assertThat(received.isAcquired()).isTrue();
        assertThat(received.refresh().remainingLifetime()).isPresent();
        assertThat(semaphore.available()).isEqualTo(1);
        assertThat(received.release()).isTrue();
        assertThat(semaphore.available()).isEqualTo(3);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> receivers.permits(fixture.key()))
                .withMessageContaining("permits of a semaphore");
    }

    /** The semaphore's own promise, with a witness that no lock or store is part of. */
    @Test
    @Tag("slow")
    default void givenManyThreadsOfTwoFactories_whenTheyAcquireAndRelease_thenNeverMoreAreHeldThanThereAre(
            Fixture fixture) throws Exception {
        int permits = 3;
        AtomicInteger held = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        LockFactory other = fixture.closing(new LockFactory(fixture.store()));
        List<BackgroundCall<Integer>> calls = new ArrayList<>();
        for (int thread = 0; thread < 8; thread++) {
            LockFactory locks = thread % 2 == 0 ? fixture.locks() : other;
            Semaphore semaphore =
                    locks.semaphore(fixture.resource(), permits).ttl(LONG_TTL).create();
            int count = 1 + thread % permits;
            calls.add(fixture.start(() -> {
                for (int i = 0; i < 20; i++) {
                    try (Permit permit = semaphore.acquire(count)) {
                        most.accumulateAndGet(held.addAndGet(permit.count()), Math::max);
                        LockSupport.parkNanos(1_000);
                        held.addAndGet(-permit.count());
                    }
                }
                return count;
            }));
        }
        for (BackgroundCall<Integer> call : calls) {
            assertThat(call.result()).isPositive();
        }

        assertThat(most.get()).isBetween(1, permits);
        assertThat(Semaphores.of(fixture, permits).available()).isEqualTo(permits);
    }
}
