package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.SeveralResources.freeOf;
import static dev.latchkey.testkit.SeveralResources.names;
import static dev.latchkey.testkit.SeveralResources.one;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.spi.ExpiringStore;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The lease of a Lock of several resources begins, is renewed and ends as a whole: for an {@link ExpiringStore}. */
@ContractFor(value = ExpiringStore.class, with = MultiLockContract.class)
public interface MultiLockLeaseContract extends StoreContract {

    @Test
    @Tag("slow")
    default void givenRenewedByTheFactory_whenItsTtlIsOver_thenAllAreHeldStill(Fixture fixture) throws Exception {
        Lock lock = fixture.locks()
                .all(names(fixture, "a", "b"))
                .ttl(Leases.ROOMY_TTL)
                .autoRefresh()
                .create();
        assertThat(lock.tryAcquire()).isTrue();

        LeaseContract.awaitThatATtlIsOver(fixture, Leases.ROOMY_TTL);

        assertThat(lock.isExpired()).isFalse();
        assertThat(freeOf(fixture, "a", "b")).isEmpty();
        assertThat(lock.release()).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenNotRenewed_whenItsTtlIsOver_thenItKnowsAndAllAreFree(Fixture fixture) throws Exception {
        Lock lock =
                fixture.locks().all(names(fixture, "a", "b")).ttl(shortTtl()).create();
        Awaitility.await().atMost(TimeLimits.LIMIT).until(lock::tryAcquire);

        assertThat(one(fixture, "b").tryAcquire(TimeLimits.LIMIT)).isTrue();

        assertThat(lock.isExpired()).isTrue();
        assertThat(one(fixture, "a").tryAcquire(TimeLimits.LIMIT)).isTrue();
        assertThat(lock.release()).isFalse();
        assertThat(freeOf(fixture, "a", "b")).isEmpty();
    }

    @Test
    default void givenAMinimumHoldTime_whenReleased_thenNoneIsFreeYet(Fixture fixture) {
        Lock lock =
                fixture.locks().all(names(fixture, "a", "b")).minHold(LONG_TTL).create();
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.release()).isTrue();

        assertThat(freeOf(fixture, "a", "b")).isEmpty();
        assertThat(lock.tryAcquire()).isFalse();
    }
}
