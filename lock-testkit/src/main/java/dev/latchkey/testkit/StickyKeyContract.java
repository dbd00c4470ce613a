package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.StickyLocks.sticky;
import static dev.latchkey.testkit.StickyLocks.usedToken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.Response;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What becomes of a sticky hold whose key is handed out or given away, or whose factory is closed. */
public interface StickyKeyContract extends RecallableStoreContract {

    @Test
    default void givenKept_whenTheFactoryIsClosed_thenItIsFree(Fixture fixture) {
        RecallableStore store = fixture.store(RecallableStore.class);
        LockFactory here = new LockFactory(store);
        assertThat(usedToken(sticky(fixture, here))).isPositive();

        here.close();

        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenInUse_whenTheFactoryIsClosed_thenItIsFree(Fixture fixture) {
        RecallableStore store = fixture.store(RecallableStore.class);
        LockFactory here = new LockFactory(store);
        assertThat(sticky(fixture, here).tryAcquire()).isTrue();

        here.close();

        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    /** The thread that releases what was recalled may be too late: the store may be closed next, or the JVM may end. */
    @Test
    default void givenItsReleaseIsInProgress_whenTheFactoryIsClosed_thenItIsFree(Fixture fixture) throws Exception {
        RecallableStore store = fixture.store(RecallableStore.class);
        CompletableFuture<Void> begun = new CompletableFuture<>();
        CompletableFuture<Void> closed = new CompletableFuture<>();
        LockFactory here = new LockFactory(new CountedStore(store) {
            @Override
            public boolean delete(Key key) {
                if (begun.complete(null)) {
                    closed.join();
                }
                return super.delete(key);
            }
        });
        assertThat(usedToken(sticky(fixture, here))).isPositive();
        Key rival = fixture.key();
        assertThat(store.save(exclusive(rival))).isInstanceOf(Response.Conflicted.class);
        begun.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);

        here.close();

        try {
            assertThat(store.save(exclusive(rival))).isInstanceOf(Response.Granted.class);
        } finally {
            closed.complete(null);
        }
    }

    @Test
    default void givenClosedWhileALockBeginsToAcquire_whenThatIsRefused_thenItIsFree(Fixture fixture) {
        RecallableStore store = fixture.store(RecallableStore.class);
        CompletableFuture<Void> begins = new CompletableFuture<>();
        LockFactory here = new LockFactory(new CountedStore(store) {
            @Override
            public boolean isSpent(Key key) {
                begins.complete(null);
                return super.isSpent(key);
            }
        });
        Lock lock = sticky(fixture, here);
        CompletableFuture<Void> closed = begins.thenRun(here::close);

        assertThatThrownBy(lock::tryAcquire).isInstanceOf(IllegalStateException.class);

        assertThat(closed).isCompleted();
        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenItsKeyWasHandedOut_whenReleased_thenItIsFree(Fixture fixture) {
        RecallableStore store = fixture.store(RecallableStore.class);
        LockFactory here = fixture.closing(new LockFactory(store));
        Lock lock = sticky(fixture, here);
        assertThat(usedToken(lock)).isPositive();
        assertThat(lock.tryAcquire()).isTrue();

        Key key = lock.key();

        assertThat(store.find(key).orElseThrow().fencingToken()).isEqualTo(lock.fencingToken());
        assertThat(lock.release()).isTrue();
        assertThat(store.find(key)).isEmpty();
        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    /** Whoever has the key of a free Lock may acquire with it: what this Lock acquires then is known under that key. */
    @Test
    default void givenItsKeyWasHandedOutWhileFree_whenAcquired_thenTheKeyHoldsIt(Fixture fixture) {
        RecallableStore store = fixture.store(RecallableStore.class);
        LockFactory here = fixture.closing(new LockFactory(store));
        Lock lock = sticky(fixture, here);

        Key key = lock.key();

        assertThat(lock.tryAcquire()).isTrue();
        assertThat(store.find(key)).isPresent();
        assertThat(lock.release()).isTrue();
        assertThat(store.find(key)).isEmpty();
    }

    @Test
    default void givenHeldByAnotherLockOfTheFactory_whenAKeyOfTheFirstIsUsed_thenItIsRefused(Fixture fixture) {
        RecallableStore store = fixture.store(RecallableStore.class);
        LockFactory here = fixture.closing(new LockFactory(store));
        Lock first = sticky(fixture, here);
        assertThat(usedToken(first)).isPositive();
        Lock second = sticky(fixture, here);
        assertThat(second.tryAcquire()).isTrue();

        assertThat(store.save(exclusive(first.key()))).isInstanceOf(Response.Conflicted.class);

        assertThat(second.isAcquired()).isTrue();
    }

    @Test
    default void givenTransferred_whenTheNewOwnerAsks_thenItHoldsUnderTheSameToken(Fixture fixture) {
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        Lock lock = sticky(fixture, here);
        assertThat(usedToken(lock)).isPositive();
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();

        Lock owner = fixture.lock(lock.transferKey());

        assertThat(owner.isAcquired()).isTrue();
        assertThat(owner.fencingToken()).hasValue(token);
        assertThat(lock.isAcquired()).isFalse();
        assertThat(sticky(fixture, here).tryAcquire()).isFalse();
        assertThat(owner.refresh().isExpired()).isFalse();
        assertThat(owner.release()).isTrue();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.fencingToken().orElseThrow()).isGreaterThan(token);
    }
}
