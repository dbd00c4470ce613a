package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LossReason;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Refreshing a lease, by hand and automatically; part of {@link ExpiringStoreContract}. */
public interface LeaseRefreshContract extends StoreContract {

    @Test
    @Tag("slow")
    default void givenHolderIsRefreshed_whenARivalGetsIn_thenTheHolderKnewBefore(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        Lock rival = fixture.lock();
        BackgroundCall<Boolean> expiredWhenRivalGotIn = fixture.startWaiting(() -> {
            rival.acquire();
            return holder.isExpired();
        });
        for (int i = 0; i < 5; i++) {
            holder.refresh();
        }

        Leases.shorten(holder, shortTtl());

        assertThat(expiredWhenRivalGotIn.result()).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenHeldShortly_whenRefreshed_thenHeldPastTheFirstTtl(Fixture fixture) {
        Lock lock = fixture.lock(Leases.ROOMY_TTL);
        assertThat(lock.tryAcquire()).isTrue();

        lock.refresh(LONG_TTL);

        LeaseContract.awaitThatATtlIsOver(fixture, Leases.ROOMY_TTL);
        assertThat(lock.isExpired()).isFalse();
        assertThat(lock.isAcquired()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
    }

    @Test
    default void givenRefreshedOnceWithAnotherTtl_whenRefreshedAgain_thenItsOwnTtlCounts(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        lock.refresh(LONG_TTL.multipliedBy(2));
        assertThat(lock.remainingLifetime().orElseThrow()).isGreaterThan(LONG_TTL);

        lock.refresh();

        assertThat(lock.remainingLifetime().orElseThrow()).isLessThan(LONG_TTL);
    }

    @Test
    @Tag("slow")
    default void givenAutoRefresh_whenSeveralTtlsAreOver_thenHeldStill(Fixture fixture) {
        Lock lock = fixture.locks()
                .lock(fixture.resource())
                .ttl(Leases.ROOMY_TTL)
                .autoRefresh()
                .create();
        assertThat(lock.tryAcquire()).isTrue();

        LeaseContract.awaitThatATtlIsOver(fixture, Leases.ROOMY_TTL);
        LeaseContract.awaitThatATtlIsOver(fixture, Leases.ROOMY_TTL.dividedBy(2));

        assertThat(lock.isExpired()).isFalse();
        assertThat(lock.isAcquired()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
        assertThat(lock.release()).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenAutoRefresh_whenReleased_thenItIsNotTakenAgain(Fixture fixture) {
        Lock lock = fixture.locks()
                .lock(fixture.resource())
                .ttl(shortTtl())
                .autoRefresh()
                .create();
        // One that is over before it is released proves nothing.
        Awaitility.await().until(() -> lock.tryAcquire() && lock.release());

        LeaseContract.awaitThatATtlIsOver(fixture, shortTtl());

        assertThat(lock.isAcquired()).isFalse();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenAutoRefresh_whenReleasedElsewhere_thenTheHolderIsTold(Fixture fixture) {
        List<LossReason> told = new CopyOnWriteArrayList<>();
        Lock lock = fixture.locks()
                .lock(fixture.resource())
                .ttl(Leases.ROOMY_TTL)
                .autoRefresh()
                .onLost(told::add)
                .create();
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(fixture.lock(lock.key()).release()).isTrue();

        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> !told.isEmpty());
        assertThat(lock.isExpired()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }
}
