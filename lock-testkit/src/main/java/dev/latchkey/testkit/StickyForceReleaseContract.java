package dev.latchkey.testkit;

import static dev.latchkey.testkit.StickyLocks.STICKY;
import static dev.latchkey.testkit.StickyLocks.sticky;
import static dev.latchkey.testkit.StickyLocks.usedToken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.ForceReleaseStore;
import dev.latchkey.spi.RecallableStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What becomes of a sticky lock that is ended by force: for a {@link RecallableStore} that is a {@link ForceReleaseStore}. */
@ContractFor({RecallableStore.class, ForceReleaseStore.class})
public interface StickyForceReleaseContract extends StickyContract {

    @Test
    default void givenForcedWhileKept_whenAcquired_thenTheStoreIsAsked(Fixture fixture) {
        ForceReleaseStore store = fixture.store(ForceReleaseStore.class);
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        Lock lock = sticky(fixture, here);
        assertThat(usedToken(lock)).isPositive();
        long shown = store.holders(fixture.resource()).get(0).fencingToken().orElseThrow();

        assertThat(store.forceRelease(fixture.resource(), shown)).isTrue();

        Lock rival = fixture.lock();
        assertThat(rival.tryAcquire()).isTrue();
        // Until this store has heard of it, it believes that it keeps the lock.
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .ignoreException(LockLostException.class)
                .until(() -> !lock.tryAcquire());
        assertThat(lock.isAcquired()).isFalse();
    }

    @Test
    default void givenForcedWhileInUse_whenTold_thenTheHolderLosesIt(Fixture fixture) throws Exception {
        ForceReleaseStore store = fixture.store(ForceReleaseStore.class);
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        CompletableFuture<LossReason> lost = new CompletableFuture<>();
        Lock lock = here.lock(fixture.resource())
                .ttl(Fixture.LONG_TTL)
                .sticky(STICKY)
                .onLost(lost::complete)
                .create();
        assertThat(usedToken(lock)).isPositive();
        assertThat(lock.tryAcquire()).isTrue();
        long shown = store.holders(fixture.resource()).get(0).fencingToken().orElseThrow();

        assertThat(store.forceRelease(fixture.resource(), shown)).isTrue();

        assertThat(lost.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(LossReason.FORCED);
        assertThat(lock.isExpired()).isTrue();
        assertThatThrownBy(lock::refresh).isInstanceOf(LockLostException.class);
        assertThat(sticky(fixture, here).tryAcquire()).isTrue();
    }
}
