package dev.latchkey.testkit;

import static dev.latchkey.testkit.StickyLocks.sticky;
import static dev.latchkey.testkit.StickyLocks.usedToken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What ends a sticky lock by time, or not: for a {@link RecallableStore} that is an {@link ExpiringStore}. */
@ContractFor({RecallableStore.class, ExpiringStore.class})
public interface StickyExpiryContract extends StickyRivalContract, RecallableLeaseContract {

    /** A thread that ends without a release leaves the lock to its TTL, sticky or not. */
    @Test
    @Tag("slow")
    default void givenItsHolderNeverReleases_whenItsTtlIsOver_thenWhoeverWaitsIsGranted(Fixture fixture)
            throws Exception {
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        Lock lock = here.lock(fixture.resource())
                .ttl(workingTtl())
                .sticky(StickyLocks.FOR_LONG)
                .create();
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(fixture.lock().tryAcquire(workingTtl().plus(soon()))).isTrue();

        assertThat(lock.isExpired()).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenItsTtlIsOver_whenItsKeyIsAskedFor_thenItIsReleasedForWhoeverAsks(Fixture fixture)
            throws Exception {
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        Lock lock = here.lock(fixture.resource())
                .ttl(shortTtl())
                .sticky(StickyLocks.FOR_LONG)
                .create();
        assertThat(lock.tryAcquire()).isTrue();
        Awaitility.await().atMost(TimeLimits.LIMIT).until(lock::isExpired);

        assertThat(lock.key().held()).isEmpty();

        assertThat(fixture.lock().tryAcquire(soon())).isTrue();
    }

    /** The request that renewed it was executed, but not answered: it lasts longer than its process knows. */
    @Test
    default void givenItsRenewalIsNotAnswered_whenNobodyHolds_thenItIsReleased(Fixture fixture) {
        LockFactory here = fixture.closing(new LockFactory(new CountedStore(fixture.store(RecallableStore.class)) {
            @Override
            public Response refresh(Request request) {
                Response unheard = super.refresh(request);
                throw new LockStorageException(request.key().resource(), "planned after " + unheard.getClass(), null);
            }
        }));
        Lock lock = here.lock(fixture.resource())
                .ttl(Fixture.LONG_TTL)
                .sticky(Duration.ofMillis(1))
                .create();
        assertThat(usedToken(lock)).isPositive();
        long released = System.nanoTime();
        Awaitility.await()
                .until(() -> System.nanoTime() - released > Duration.ofMillis(2).toNanos());

        assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockStorageException.class);

        StickyLocks.awaitNobodyHolds(fixture);
    }

    /** The store is told of the older token late: what is held under a newer one is not lost by its answer. */
    @Test
    @Tag("slow")
    default void givenARefreshComesAfterTheNextHoldWasRenewed_whenAnswered_thenThatHoldGoesOn(Fixture fixture)
            throws Exception {
        CompletableFuture<Void> sent = new CompletableFuture<>();
        CompletableFuture<Void> arrived = new CompletableFuture<>();
        LockFactory here = fixture.closing(new LockFactory(new CountedStore(fixture.store(RecallableStore.class)) {
            @Override
            public Response refresh(Request request) {
                if (sent.complete(null)) {
                    arrived.join();
                }
                return super.refresh(request);
            }
        }));
        Lock first = here.lock(fixture.resource())
                .ttl(Leases.ROOMY_TTL)
                .sticky(StickyLocks.FOR_LONG)
                .create();
        Lock second = sticky(fixture, here);
        assertThat(first.tryAcquire()).isTrue();
        BackgroundCall<Lock> late = fixture.start(first::refresh);
        try {
            sent.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(second.tryAcquire(TimeLimits.LIMIT)).isTrue();
            assertThat(second.refresh().isExpired()).isFalse();
        } finally {
            arrived.complete(null);
        }

        assertThatThrownBy(late::result).isInstanceOf(LockLostException.class);

        assertThat(second.isExpired()).isFalse();
        assertThat(second.isAcquired()).isTrue();
        assertThat(second.release()).isTrue();
    }

    /** A Lock whose key others may know acquires under that key, which the store knows. */
    @Test
    @Tag("slow")
    default void givenItsKeyWasHandedOutAndItExpired_whenAcquiredAnew_thenItIsRefreshedAndReleased(Fixture fixture)
            throws Exception {
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        Lock lock = here.lock(fixture.resource())
                .ttl(Leases.ROOMY_TTL)
                .sticky(shortTtl())
                .create();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.key().held()).isPresent();
        Awaitility.await().atMost(TimeLimits.LIMIT).until(lock::isExpired);

        assertThat(lock.tryAcquire(TimeLimits.LIMIT)).isTrue();

        assertThat(lock.refresh().isExpired()).isFalse();
        assertThat(lock.isAcquired()).isTrue();
        assertThat(lock.release()).isTrue();
        StickyLocks.awaitNobodyHolds(fixture);
    }

    private static Duration soon() {
        return TimeLimits.scaled(Duration.ofSeconds(15));
    }
}
