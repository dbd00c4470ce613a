package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Leases of a {@link Lock}: their ends, and knowing of them in time; part of {@link ExpiringStoreContract}. */
public interface LeaseContract extends StoreContract {

    /** Waits until a hold taken now with this TTL has expired: every hold with this TTL taken before is over, too. */
    static void awaitThatATtlIsOver(Fixture fixture, Duration ttl) {
        // Another resource each time: what is gone for who looks may be there a little longer at one of several
        // members.
        Key sentinel = fixture.key(fixture.resource() + "-sentinel-" + System.nanoTime());
        granted(fixture.store().save(exclusive(sentinel, ttl)));
        Awaitility.await("a TTL of " + ttl + " to be over")
                .pollInterval(Duration.ofMillis(10))
                .atMost(ttl.plus(TimeLimits.LIMIT))
                .until(() -> fixture.store().find(sentinel).isEmpty());
    }

    @Test
    default void givenAcquired_whenAskedForItsLifetime_thenWithinTheTtl(Fixture fixture) {
        Lock lock = fixture.lock();

        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.remainingLifetime())
                .hasValueSatisfying(left -> assertThat(left).isPositive().isLessThan(LONG_TTL));
    }

    @Test
    @Tag("slow")
    default void givenExpired_whenAskedForItsLifetime_thenNone(Fixture fixture) {
        Lock lock = expired(fixture);

        assertThat(lock.remainingLifetime()).contains(Duration.ZERO);
        assertThat(lock.fencingToken()).isEmpty();
        assertThat(lock.isAcquired()).isFalse();
    }

    @Test
    @Tag("slow")
    default void givenExpired_whenRefreshed_thenLostAndNothingTaken(Fixture fixture) {
        Lock lock = expired(fixture);
        awaitThatATtlIsOver(fixture, shortTtl());

        assertThatThrownBy(lock::refresh)
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining(fixture.resource());

        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenExpired_whenAcquiredAgain_thenHeldAnew(Fixture fixture) {
        Lock lock = expired(fixture);
        awaitThatATtlIsOver(fixture, shortTtl());

        boolean acquired = lock.tryAcquire();

        assertThat(acquired).isTrue();
        assertThat(lock.isExpired()).isFalse();
        assertThat(fixture.lock().tryAcquire()).isFalse();
    }

    @Test
    @Tag("slow")
    default void givenExpired_whenClosed_thenItEndsWithoutHurtingTheTaker(Fixture fixture) throws Exception {
        // Not made shorter by a call, which may have told of the loss already.
        Lock lock = fixture.lock(shortTtl());
        Awaitility.await().atMost(TimeLimits.LIMIT).until(lock::tryAcquire);
        Awaitility.await().atMost(TimeLimits.LIMIT).until(lock::isExpired);
        Lock taker = fixture.lock().acquire();

        assertThatThrownBy(lock::close).isInstanceOf(LockLostException.class);

        assertThat(taker.isAcquired()).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenTakenOver_whenReleased_thenFalseAndTheTakerHolds(Fixture fixture) throws Exception {
        Lock lock = expired(fixture);
        Lock taker = fixture.lock().acquire();

        boolean released = lock.release();

        assertThat(released).isFalse();
        assertThat(taker.isAcquired()).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenTakenOver_whenRefreshed_thenLostAndTheTakerHolds(Fixture fixture) throws Exception {
        Lock lock = expired(fixture);
        Lock taker = fixture.lock().acquire();

        assertThatThrownBy(lock::refresh).isInstanceOf(LockLostException.class);

        assertThat(taker.isAcquired()).isTrue();
    }

    /** F20: with a coarse clock in the store, others got in while the holder believed to have time left. */
    @Test
    @Tag("slow")
    default void givenHolderDoesNothing_whenARivalGetsIn_thenTheHolderKnewBefore(Fixture fixture) throws Exception {
        for (int i = 0; i < 3; i++) {
            Duration ttl = shortTtl()
                    .plusMillis(ThreadLocalRandom.current().nextLong(shortTtl().toMillis()));
            Lock holder = fixture.lock(ttl);
            Lock rival = fixture.lock();
            // The whole lease may be over by the time of the answer.
            Awaitility.await().atMost(TimeLimits.LIMIT).until(holder::tryAcquire);

            rival.acquire();

            assertThat(holder.isExpired()).as("with a TTL of " + ttl).isTrue();
            assertThat(rival.release()).isTrue();
        }
    }

    @Test
    @Tag("slow")
    default void givenListener_whenTheLeaseEnds_thenItIsToldOnceWithoutAnyCall(Fixture fixture) {
        List<LossReason> told = new CopyOnWriteArrayList<>();
        Lock lock = fixture.lock(shortTtl());
        lock.onLost(told::add);
        assertThat(lock.tryAcquire()).isTrue();

        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> !told.isEmpty());

        assertThat(lock.isExpired()).isTrue();
        assertThat(lock.isAcquired()).isFalse();
        LossContract.awaitNotifierHasCaughtUp(fixture);
        assertThat(told).containsExactly(LossReason.EXPIRED);
    }

    @Test
    @Tag("slow")
    default void givenExpired_whenAListenerComesLate_thenItIsTold(Fixture fixture) {
        List<LossReason> told = new CopyOnWriteArrayList<>();
        Lock lock = expired(fixture);

        lock.onLost(told::add);

        LossContract.awaitNotifierHasCaughtUp(fixture);
        assertThat(told).containsExactly(LossReason.EXPIRED);
    }

    @Test
    @Tag("slow")
    default void givenWaiting_whenTheHoldersLeaseEnds_thenAcquired(Fixture fixture) throws Exception {
        Lock holder = fixture.lock(workingTtl());
        assertThat(holder.tryAcquire()).isTrue();

        BackgroundCall<Lock> waiting = fixture.start(fixture.lock()::acquire);

        assertThat(waiting.result().isAcquired()).isTrue();
        assertThat(holder.isExpired()).isTrue();
    }

    /** The lease of one who waited long begins with the grant, not with the request. */
    @Test
    @Tag("slow")
    default void givenWaitedLongerThanItsTtl_whenAcquired_thenTheWholeTtlIsLeft(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = fixture.lock(workingTtl());
        BackgroundCall<Duration> waiting = fixture.startWaiting(
                () -> waiter.acquire().remainingLifetime().orElseThrow().plusNanos(System.nanoTime()));
        awaitThatATtlIsOver(fixture, workingTtl());

        Duration before = Duration.ofNanos(System.nanoTime());
        assertThat(holder.release()).isTrue();

        // With the time since the release: on a busy machine, the waiter may look late.
        assertThat(waiting.result().minus(before)).isGreaterThan(workingTtl().dividedBy(2));
    }

    @Test
    @Tag("slow")
    default void givenHeldShortlyElsewhere_whenAdopted_thenItIsBelievedNoLongerThanTheStoreKeepsIt(Fixture fixture)
            throws Exception {
        Lock first = fixture.lock(Leases.ROOMY_TTL);
        assertThat(first.tryAcquire()).isTrue();
        Lock adopted = fixture.lock(first.key());
        assertThat(adopted.isAcquired()).isTrue();
        assertThat(adopted.remainingLifetime().orElseThrow()).isLessThan(Leases.ROOMY_TTL);

        fixture.lock().acquire();

        assertThat(adopted.isExpired()).isTrue();
    }

    /** A lock whose first lease is over, by its own account. It begins long enough for a busy machine to shorten it. */
    private Lock expired(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        Leases.shorten(lock, shortTtl());
        Awaitility.await("the lease to end")
                .pollInterval(Duration.ofMillis(5))
                .atMost(TimeLimits.LIMIT)
                .until(lock::isExpired);
        return lock;
    }
}
