package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import dev.latchkey.semaphore.Permit;
import dev.latchkey.semaphore.Semaphore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The leases of permits, those who hold them, and how many there are: a part of {@link SemaphoreContract}. */
public interface SemaphoreLeaseContract extends StoreContract {

    @Test
    default void givenALeaseEnds_thenOthersAcquireItsPermitsAndItsHolderIsTold(Fixture fixture) throws Exception {
        CompletableFuture<LossReason> lost = new CompletableFuture<>();
        Semaphore brief = fixture.locks()
                .semaphore(fixture.resource(), 2)
                .ttl(shortTtl())
                .onLost(lost::complete)
                .create();
        Permit permit = Semaphores.acquired(brief, 2);

        Permit next = Semaphores.of(fixture, 2).acquire(1);

        assertThat(lost.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(LossReason.EXPIRED);
        assertThat(permit.remainingLifetime()).isZero();
        assertThat(permit.isHeld()).isFalse();
        assertThatThrownBy(permit::refresh).isInstanceOf(LockLostException.class);
        assertThat(permit.release()).isFalse();
        assertThat(next.release()).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenAutoRefresh_whenTheTtlIsOver_thenThePermitsAreHeldStill(Fixture fixture) {
        Semaphore renewed = fixture.locks()
                .semaphore(fixture.resource(), 1)
                .ttl(Leases.ROOMY_TTL)
                .autoRefresh()
                .create();
        try (Permit permit = Semaphores.acquired(renewed, 1)) {
            LeaseContract.awaitThatATtlIsOver(fixture, Leases.ROOMY_TTL);

            assertThat(permit.isHeld()).isTrue();
            assertThat(renewed.tryAcquire()).isEmpty();
        }
        assertThat(renewed.available()).isEqualTo(1);
    }

    @Test
    default void givenAPermit_whenRefreshedOnce_thenTheLeaseIsAsLongAsAsked(Fixture fixture) throws Exception {
        Semaphore semaphore = Semaphores.of(fixture, 1);
        Permit permit = Semaphores.acquired(semaphore, 1);
        assertThat(permit.refresh(LONG_TTL.multipliedBy(2)).remainingLifetime()).isGreaterThan(LONG_TTL);

        try {
            Permit unused = permit.refresh(shortTtl());
        } catch (LockLostException e) {
            // The answer came later than that, which has ended the lease as well.
        }

        assertThat(permit.remainingLifetime()).isLessThanOrEqualTo(shortTtl());
        assertThat(semaphore.acquire(1, TimeLimits.LIMIT).release()).isTrue();
    }

    @Test
    default void givenHolders_whenAskedFor_thenTheyAreShown(Fixture fixture) {
        LockFactory named = fixture.closing(
                LockFactory.builder(fixture.store()).owner("exporter").build());
        Semaphore semaphore =
                named.semaphore(fixture.resource(), 5).ttl(LONG_TTL).create();
        assertThat(semaphore.holders()).isEmpty();
        Permit permit = Semaphores.acquired(semaphore, 2);

        Semaphore seen = Semaphores.of(fixture, 5);

        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .untilAsserted(() -> assertThat(seen.holders()).singleElement().satisfies(holder -> {
                    assertThat(holder.count()).isEqualTo(2);
                    assertThat(holder.limit()).isEqualTo(5);
                    assertThat(holder.remaining()).isPositive().isLessThanOrEqualTo(LONG_TTL);
                    assertThat(holder.held()).isLessThan(LONG_TTL);
                    // Factories that share a store may be shown together.
                    assertThat(holder.description())
                            .hasValueSatisfying(who -> assertThat(who).contains("exporter"));
                }));
        assertThat(permit.release()).isTrue();
        assertThat(semaphore.holders()).isEmpty();
    }

    @Test
    default void givenTheNumberIsMadeSmaller_whenSomeHoldMore_thenTheyFinishAndNobodyAcquiresBefore(Fixture fixture)
            throws Exception {
        Semaphore before = Semaphores.of(fixture, 4);
        Permit three = Semaphores.acquired(before, 3);
        Permit one = Semaphores.acquired(before, 1);
        Semaphore after = Semaphores.of(fixture, 2);

        assertThat(after.available()).isZero();
        assertThat(after.tryAcquire()).isEmpty();
        assertThat(three.refresh().isHeld()).isTrue();
        assertThat(three.release()).isTrue();

        assertThat(after.available()).isEqualTo(1);
        Permit another = Semaphores.acquired(after, 1);
        assertThat(after.tryAcquire()).isEmpty();
        assertThat(before.tryAcquire())
                .as("who knows four, while somebody holds who knows two")
                .isEmpty();
        assertThat(another.release()).isTrue();
        assertThat(one.release()).isTrue();
    }

    @Test
    default void givenTheNumberIsMadeLarger_whenNobodyHoldsWhoKnowsTheSmallerOne_thenMoreCanBeAcquired(
            Fixture fixture) {
        Semaphore before = Semaphores.of(fixture, 1);
        Semaphore after = Semaphores.of(fixture, 3);
        Permit old = Semaphores.acquired(before, 1);
        assertThat(after.tryAcquire()).isEmpty();

        assertThat(old.release()).isTrue();

        Permit all = Semaphores.acquired(after, 3);
        assertThat(before.tryAcquire()).isEmpty();
        assertThat(all.release()).isTrue();
    }

    @Test
    default void givenALeaseHasEnded_whenItsPermitsAreNeeded_thenTheyCount(Fixture fixture) {
        Semaphore brief =
                fixture.locks().semaphore(fixture.resource(), 3).ttl(shortTtl()).create();
        Permit unused = Semaphores.acquired(brief, 2);
        Permit kept = Semaphores.acquired(Semaphores.of(fixture, 3), 1);

        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> brief.available() == 2);

        Permit again = Semaphores.acquired(Semaphores.of(fixture, 3), 2);
        assertThat(again.release()).isTrue();
        assertThat(kept.release()).isTrue();
    }
}
