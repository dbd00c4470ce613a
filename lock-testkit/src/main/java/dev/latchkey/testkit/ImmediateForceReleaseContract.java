package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.ForceReleaseStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The holder hears at once, and not by its next renewal, that somebody has ended its hold: for a {@link ForceReleaseStore} that
 * has a way to its holders.
 */
public interface ImmediateForceReleaseContract extends ForceReleaseStoreContract {

    /** Longer than any test: it is no renewal that tells. */
    @Test
    default void givenALongLease_whenForced_thenItsListenerHearsThatItWasForced(Fixture fixture) throws Exception {
        CompletableFuture<LossReason> heard = new CompletableFuture<>();
        Lock lock = listening(fixture, Key.of(fixture.resource()), Fixture.LONG_TTL, heard);
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(force(fixture, lock)).isTrue();

        assertThat(reason(heard)).isEqualTo(LossReason.FORCED);
        assertThat(lock.isAcquired()).isFalse();
    }

    /** One that has not acquired the hold itself may hear of it by its next renewal; it learns the reason all the same. */
    @Test
    default void givenAnotherLockOfTheKey_whenForced_thenTheReasonIsForcedForBoth(Fixture fixture) throws Exception {
        Key key = fixture.key();
        Duration ttl = Duration.ofSeconds(15);
        CompletableFuture<LossReason> one = new CompletableFuture<>();
        CompletableFuture<LossReason> other = new CompletableFuture<>();
        Lock first = listening(fixture, key, ttl, one);
        Lock second = listening(fixture, key, ttl, other);
        assertThat(first.tryAcquireShared()).isTrue();
        assertThat(second.tryAcquireShared()).isTrue();
        assertThat(first.tryAcquire()).isTrue();

        assertThat(force(fixture, first)).isTrue();

        assertThat(List.of(reason(one), reason(other))).containsOnly(LossReason.FORCED);
        assertThat(second.isAcquired()).isFalse();
    }

    /** Whatever its holder does at that moment, it is told that somebody has ended the hold. */
    @Test
    @Tag("slow")
    default void givenItsHolderAsksTheStore_whenForcedMeanwhile_thenItsReasonIsForced(Fixture fixture)
            throws Exception {
        int rounds = Math.min(2_000, forceReleaseRaces());
        ForceRace race = new ForceRace(fixture, rounds);

        List<LossReason> reasons = new ArrayList<>();
        int released = 0;
        for (int i = 0; i < rounds; i++) {
            CompletableFuture<LossReason> heard = new CompletableFuture<>();
            Lock lock = fixture.locks()
                    .lock(fixture.resource())
                    .ttl(Fixture.LONG_TTL)
                    .onLost(heard::complete)
                    .create();
            assertThat(lock.tryAcquire()).isTrue();
            race.begin(lock.fencingToken().orElseThrow());
            boolean isReleased = askUntilLost(lock, i % 3);
            race.end();
            if (!isReleased) {
                reasons.add(reason(heard));
            }
            released += isReleased ? 1 : 0;
        }

        assertThat(race.forced() + released).isEqualTo(rounds);
        assertThat(reasons).isNotEmpty().containsOnly(LossReason.FORCED);
    }

    /** Returns whether it was released. */
    private static boolean askUntilLost(Lock lock, int how) {
        try {
            boolean isHeld = how < 2;
            while (isHeld) {
                isHeld = how == 0 ? lock.refresh().isAcquired() : lock.isAcquired();
            }
            return how == 2 && lock.release();
        } catch (LockLostException e) {
            assertThat(e.reason()).isEqualTo(LossReason.FORCED);
            return false;
        }
    }

    private static Lock listening(Fixture fixture, Key key, Duration ttl, CompletableFuture<LossReason> heard) {
        return fixture.locks()
                .lock(key)
                .ttl(ttl)
                .autoRefresh()
                .onLost(heard::complete)
                .create();
    }

    private static boolean force(Fixture fixture, Lock lock) {
        return fixture.store(ForceReleaseStore.class)
                .forceRelease(fixture.resource(), lock.fencingToken().orElseThrow());
    }

    private static LossReason reason(CompletableFuture<LossReason> heard) throws Exception {
        return heard.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
    }
}
