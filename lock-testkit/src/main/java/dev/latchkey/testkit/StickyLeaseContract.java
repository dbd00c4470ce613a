package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.StickyLocks.STICKY;
import static dev.latchkey.testkit.StickyLocks.sticky;
import static dev.latchkey.testkit.StickyLocks.usedToken;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.OptionalLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The TTL of sticky locks: for a {@link RecallableStore} that is an {@link ExpiringStore}. */
@ContractFor({RecallableStore.class, ExpiringStore.class})
public interface StickyLeaseContract extends StickyContract, StickyExpiryContract {

    /** What is kept ends by itself: nobody renews it. */
    @Test
    @Tag("slow")
    default void givenKept_whenItsTimeIsOver_thenItIsAskedForAnewWithAGreaterToken(Fixture fixture) {
        RecallableStore store = fixture.store(RecallableStore.class);
        LockFactory here = fixture.closing(new LockFactory(store));
        Lock lock = here.lock(fixture.resource())
                .ttl(Leases.ROOMY_TTL)
                .sticky(shortTtl())
                .create();
        long token = usedToken(lock);
        LeaseContract.awaitThatATtlIsOver(fixture, Leases.ROOMY_TTL.plus(shortTtl()));
        Key key = fixture.key();
        Response.Granted rival = Requests.granted(store.save(exclusive(key, Fixture.LONG_TTL)));
        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
        assertThat(lock.tryAcquire()).isFalse();
        assertThat(store.delete(key)).isTrue();

        Awaitility.await().atMost(TimeLimits.LIMIT).until(lock::tryAcquire);

        assertThat(lock.fencingToken().orElseThrow())
                .isGreaterThan(rival.fencingToken().orElseThrow());
    }

    /** Each hold has its whole TTL, however long what is kept has been kept. */
    @Test
    @Tag("slow")
    default void givenKeptForLongerThanSticky_whenAcquired_thenItHasItsWholeTtl(Fixture fixture) {
        Duration ttl = Leases.ROOMY_TTL;
        Duration kept = ttl.dividedBy(6);
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        Lock lock = here.lock(fixture.resource()).ttl(ttl).sticky(kept).create();
        long token = usedToken(lock);
        LeaseContract.awaitThatATtlIsOver(fixture, kept);

        long before = System.nanoTime();
        assertThat(lock.tryAcquire()).isTrue();

        Duration left = lock.remainingLifetime().orElseThrow();
        assertThat(left.plusNanos(System.nanoTime() - before))
                .isGreaterThan(ttl.multipliedBy(9).dividedBy(10));
        assertThat(lock.fencingToken().orElseThrow()).isGreaterThan(token);
    }

    /** What is kept for a Lock with a longer TTL lasts longer than what another one asks for, whose hold grows all the same. */
    @Test
    @Tag("slow")
    default void givenKeptForALongerTtl_whenAnotherLockRefreshes_thenItHasItsWholeTtl(Fixture fixture) {
        Duration ttl = Leases.ROOMY_TTL;
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        assertThat(usedToken(sticky(fixture, here))).isPositive();
        Lock shorter = here.lock(fixture.resource()).ttl(ttl).sticky(STICKY).create();
        assertThat(shorter.tryAcquire()).isTrue();
        LeaseContract.awaitThatATtlIsOver(fixture, ttl.dividedBy(6));

        long before = System.nanoTime();
        shorter.refresh();

        Duration left = shorter.remainingLifetime().orElseThrow();
        assertThat(left.plusNanos(System.nanoTime() - before))
                .isGreaterThan(ttl.multipliedBy(9).dividedBy(10));
        assertThat(sticky(fixture, here).tryAcquire()).isFalse();
    }

    /** The store keeps a hold longer than it is relied on here, for a request takes its time: that is in the way of nobody. */
    @Test
    @Tag("slow")
    default void givenKeptUntilItIsNotReliedOn_whenAcquired_thenItIsGranted(Fixture fixture) {
        Duration took = Leases.ROOMY_TTL;
        LockFactory here = fixture.closing(new LockFactory(new CountedStore(fixture.store(RecallableStore.class)) {
            @Override
            public Response save(Request request) {
                Response answer = super.save(request);
                return answer instanceof Response.Granted granted ? sentBefore(granted, took) : answer;
            }
        }));
        Lock lock = here.lock(fixture.resource())
                .ttl(took.multipliedBy(2))
                .sticky(Duration.ofMillis(1))
                .create();
        long token = usedToken(lock);
        long released = System.nanoTime();
        Awaitility.await().until(() -> System.nanoTime() - released > took.toNanos());

        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.fencingToken().orElseThrow()).isGreaterThan(token);
    }

    private static Response sentBefore(Response.Granted granted, Duration took) {
        Lease lease = granted.lease();
        long since = lease.since().orElseThrow() - took.toNanos();
        return new Response.Granted(
                granted.mode(), granted.fencingToken(), lease.withTime(OptionalLong.of(since), lease.ttl()));
    }
}
