package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.WaitingContract.LONG_WAIT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.spi.PersistingStore;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Other processes hold, wait, freeze and die: for every store that several processes can reach. A killed holder's lock is
 * free again, at once where holds end with their process, and after its TTL where they are leases; a killed waiter leaves
 * nothing.
 */
@ContractFor(value = PersistingStore.class, unless = SingleProcessContract.class)
public interface CrashContract extends ProcessesContract {

    @Test
    @Tag("slow")
    default void givenHeldInAnotherProcess_whenTriedHere_thenRefusedUntilReleasedThere(Fixture fixture) {
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            RemoteLock holder = other.lock(fixture.resource(), LONG_TTL);
            assertThat(holder.tryAcquire()).isTrue();
            Lock rival = fixture.lock();
            assertThat(rival.tryAcquire()).isFalse();

            assertThat(holder.release()).isTrue();

            assertThat(rival.tryAcquire()).isTrue();
            assertThat(holder.tryAcquire()).isFalse();
        }
    }

    @Test
    @Tag("slow")
    default void givenHeldInAnotherProcess_whenWaitedForHere_thenAcquiredOnceReleasedThere(Fixture fixture)
            throws Exception {
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            RemoteLock holder = other.lock(fixture.resource(), LONG_TTL);
            assertThat(holder.tryAcquire()).isTrue();
            BackgroundCall<Lock> waiting = fixture.startWaiting(fixture.lock()::acquire);

            assertThat(holder.release()).isTrue();

            assertThat(fixture.woken(waiting).isAcquired()).isTrue();
            assertThat(holder.tryAcquire()).isFalse();
        }
    }

    @Test
    @Tag("slow")
    default void givenHeldHere_whenAnotherProcessWaits_thenItAcquiresOnceReleasedHere(Fixture fixture) {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            RemoteLock waiter = other.lock(fixture.resource(), LONG_TTL);
            waitInVain(waiter);
            Reply waiting = waiter.startAcquire(LONG_WAIT);
            waiting.awaitWaiting();

            assertThat(holder.release()).isTrue();

            assertThat(waiting.isYes(wakeUpLimitElsewhere())).isTrue();
            assertThat(waiter.isAcquired()).isTrue();
            assertThat(fixture.lock().tryAcquire()).isFalse();
        }
    }

    /** A process that has just started is parked also while it connects and loads classes, which is no wait for a release. */
    private static void waitInVain(RemoteLock waiter) {
        assertThat(waiter.startAcquire(Duration.ofMillis(50)).isYes()).isFalse();
    }

    @Test
    @Tag("slow")
    default void givenHolderIsKilled_whenWaitedFor_thenAcquired(Fixture fixture) throws Exception {
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            assertThat(other.lock(fixture.resource(), crashTtl()).tryAcquire()).isTrue();
            BackgroundCall<Lock> waiting = fixture.startWaiting(fixture.lock()::acquire);

            other.kill();

            assertThat(waiting.result().isAcquired()).isTrue();
        }
    }

    @Test
    @Tag("slow")
    default void givenHolderWasKilled_whenItsTimeIsOver_thenTheNextGetsItAndCanReleaseIt(Fixture fixture)
            throws Exception {
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            assertThat(other.lock(fixture.resource(), crashTtl()).tryAcquire()).isTrue();
            other.kill();
        }
        Lock next = fixture.lock();

        boolean acquired = next.tryAcquire(crashTtl().plus(TimeLimits.LIMIT));

        assertThat(acquired).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
        assertThat(next.release()).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenHolderEndsInOrder_whenTriedHere_thenFree(Fixture fixture) {
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            assertThat(other.lock(fixture.resource(), LONG_TTL).tryAcquire()).isTrue();

            assertThat(other.exit()).isZero();

            assertThat(fixture.lock().tryAcquire()).isTrue();
        }
    }

    /** Nobody closes anything there: it is the exit of the JVM that gives back, long before the TTL. */
    @Test
    @Tag("slow")
    default void givenHolderIsTerminated_whenTriedHere_thenFree(Fixture fixture) throws Exception {
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            Duration ttl = TimeLimits.LIMIT.multipliedBy(5);
            assertThat(other.lock(fixture.resource(), ttl).tryAcquire()).isTrue();

            other.terminate();

            assertThat(fixture.lock().tryAcquire(TimeLimits.LIMIT)).isTrue();
        }
    }

    @Test
    @Tag("slow")
    default void givenWaiterIsKilled_whenHolderReleases_thenNothingIsLeftOfIt(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            Reply waiting = other.lock(fixture.resource(), LONG_TTL).startAcquire(LONG_WAIT);
            waiting.awaitWaiting();
            other.kill();
        }

        assertThat(holder.release()).isTrue();

        assertThat(fixture.lock().tryAcquire(crashTtl().plus(TimeLimits.LIMIT))).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenAKilledWaiterStandsBeforeAnother_whenHolderReleases_thenTheLivingOneGetsIt(Fixture fixture)
            throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            other.lock(fixture.resource(), LONG_TTL).startAcquire(LONG_WAIT).awaitWaiting();
            BackgroundCall<Lock> living = fixture.startWaiting(fixture.lock()::acquire);
            other.kill();

            assertThat(holder.release()).isTrue();

            assertThat(living.result().isAcquired()).isTrue();
        }
    }

    @Test
    @Tag("slow")
    default void givenAWaiterIsKilled_whenHolderIsAsked_thenItHoldsStill(Fixture fixture) {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            other.lock(fixture.resource(), LONG_TTL).startAcquire(LONG_WAIT).awaitWaiting();

            other.kill();
        }

        assertThat(holder.isAcquired()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
    }

    @Test
    @Tag("slow")
    default void givenHolderIsFrozen_whenThawedWithinItsTime_thenItHoldsStill(Fixture fixture) {
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            RemoteLock holder = other.lock(fixture.resource(), LONG_TTL);
            assertThat(holder.tryAcquire()).isTrue();

            other.freeze();
            assertThat(fixture.lock().tryAcquire()).isFalse();
            other.thaw();

            assertThat(holder.isAcquired()).isTrue();
            assertThat(fixture.lock().tryAcquire()).isFalse();
            assertThat(holder.release()).isTrue();
        }
    }

    @Test
    @Tag("slow")
    default void givenWaiterIsFrozenAndGoesOn_whenHolderReleases_thenItAcquires(Fixture fixture) {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            RemoteLock waiter = other.lock(fixture.resource(), LONG_TTL);
            waitInVain(waiter);
            Reply waiting = waiter.startAcquire(LONG_WAIT);
            waiting.awaitWaiting();
            freezeWaiter(other);
            other.thaw();

            assertThat(holder.release()).isTrue();

            assertThat(waiting.isYes(wakeUpLimitElsewhere())).isTrue();
        }
    }

    @Test
    @Tag("slow")
    default void givenSeveralProcesses_whenHoldersAreKilledOneByOne_thenTheNextAlwaysGetsIt(Fixture fixture) {
        List<SecondProcess> others = SecondProcess.connect(dsn(), 3);
        try {
            for (SecondProcess other : others) {
                Reply acquired = other.lock(fixture.resource(), crashTtl())
                        .startAcquire(crashTtl().plus(TimeLimits.LIMIT));

                assertThat(acquired.isYes()).isTrue();

                other.kill();
            }
        } finally {
            others.forEach(SecondProcess::close);
        }
    }
}
