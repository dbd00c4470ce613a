package dev.latchkey.testkit;

import static dev.latchkey.testkit.StickyLocks.FOR_LONG;
import static dev.latchkey.testkit.StickyLocks.awaitNobodyHolds;
import static dev.latchkey.testkit.StickyLocks.keptToken;
import static dev.latchkey.testkit.StickyLocks.usedToken;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.spi.RecallableStore;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A process that keeps a sticky lock dies or freezes: for every {@link RecallableStore} that several processes can reach. What it
 * kept ends by time, and it does not hold by that afterwards.
 */
@ContractFor(value = RecallableStore.class, with = CrashContract.class)
public interface StickyCrashContract extends ProcessesContract {

    /** Nobody has heard how many tokens it has used: the next one is greater than all that it may have. */
    @Test
    @Tag("slow")
    default void givenKeptInAnotherProcess_whenThatIsKilled_thenARivalGetsItWithAGreaterToken(Fixture fixture)
            throws Exception {
        try (SecondProcess keeping = SecondProcess.connect(dsn())) {
            long used = keptToken(fixture, keeping.stickyLock(fixture.resource(), ttl(), crashTtl()));
            keeping.kill();
            Lock rival = fixture.lock();

            assertThat(rival.tryAcquire(untilItIsOver())).isTrue();

            long next = rival.fencingToken().orElseThrow();
            assertThat(next).isGreaterThan(used);
            assertThat(rival.release()).isTrue();
            assertThat(usedToken(fixture.lock())).isGreaterThan(next);
            awaitNobodyHolds(fixture);
        }
    }

    @Test
    @Tag("slow")
    default void givenKeptInAnotherProcess_whenThatIsFrozenUntilARivalHolds_thenItDoesNotHoldWhenItGoesOn(
            Fixture fixture) throws Exception {
        try (SecondProcess keeping = SecondProcess.connect(dsn())) {
            RemoteLock keeper = keeping.stickyLock(fixture.resource(), ttl(), crashTtl());
            long used = keptToken(fixture, keeper);
            keeping.freeze();
            Lock rival = fixture.lock();
            assertThat(rival.tryAcquire(untilItIsOver())).isTrue();
            long next = rival.fencingToken().orElseThrow();
            assertThat(next).isGreaterThan(used);

            keeping.thaw();

            assertThat(keeper.tryAcquire()).isFalse();
            assertThat(rival.isAcquired()).isTrue();
            assertThat(rival.release()).isTrue();
            assertThat(keeper.startAcquire(TimeLimits.LIMIT).isYes()).isTrue();
            assertThat(keeper.fencingToken().orElseThrow()).isGreaterThan(next);
            assertThat(keeper.release()).isTrue();
        }
    }

    /** It hears of the recall when it goes on, long before what it keeps ends by time. */
    @Test
    @Tag("slow")
    default void givenKeptInAnotherProcess_whenThatIsFrozenForAMoment_thenItIsGivenBackWhenItGoesOn(Fixture fixture)
            throws Exception {
        try (SecondProcess keeping = SecondProcess.connect(dsn())) {
            long used = keptToken(fixture, keeping.stickyLock(fixture.resource(), Fixture.LONG_TTL, FOR_LONG));
            keeping.freeze();
            BackgroundCall<Lock> rival = fixture.startWaiting(fixture.lock()::acquire);

            keeping.thaw();

            assertThat(rival.result().fencingToken().orElseThrow()).isGreaterThan(used);
        }
    }

    /** It is used again and again until it is kept, in another process. */
    private static Duration ttl() {
        return TimeLimits.ttl(Duration.ofSeconds(8));
    }

    private Duration untilItIsOver() {
        return ttl().plus(crashTtl()).plus(TimeLimits.LIMIT);
    }
}
