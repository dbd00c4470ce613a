package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.WaitingContract.LONG_WAIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ProcessBound;
import dev.latchkey.store.NullStore;
import org.junit.jupiter.api.Test;

/** The other contracts are about exclusion, and there is none: code that locks must run through as if it were alone. */
class NullStoreTest implements UnfencedContract {

    private final NullStore store = new NullStore();

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return new NullStore();
    }

    @Test
    void givenHeld_whenOthersTryWaitOrShare_thenAllHold(Fixture fixture) throws Exception {
        Lock first = fixture.lock();
        assertThat(first.tryAcquire()).isTrue();

        assertThat(fixture.lock().tryAcquire()).isTrue();
        assertThat(fixture.lock().tryAcquire(LONG_WAIT)).isTrue();
        assertThat(fixture.lock().acquireShared().isAcquired()).isTrue();

        assertThat(first.isAcquired()).isTrue();
    }

    @Test
    void givenHeld_whenAskedForItsLease_thenNoTimeBoundsIt(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();

        lock.refresh();

        assertThat(lock.remainingLifetime()).isEmpty();
        assertThat(lock.isExpired()).isFalse();
    }

    @Test
    void givenReaders_whenOnePromotesAndDemotes_thenItMay(Fixture fixture) {
        assertThat(fixture.lock().tryAcquireShared()).isTrue();
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquireShared()).isTrue();

        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.key().held()).map(Key.Held::mode).contains(LockMode.EXCLUSIVE);

        assertThat(lock.tryAcquireShared()).isTrue();
        assertThat(lock.key().held()).map(Key.Held::mode).contains(LockMode.SHARED);
    }

    @Test
    void givenHeld_whenReleased_thenItWasOursOnce(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.release()).isTrue();

        assertThat(lock.release()).isFalse();
        assertThat(lock.isAcquired()).isFalse();
    }

    @Test
    void givenNothingHeld_whenRefreshed_thenIllegalStateAsOnAnyStore(Fixture fixture) {
        assertThatThrownBy(fixture.lock()::refresh).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void givenSerializedKey_whenAdoptedElsewhere_thenItHoldsThereToo(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquireShared()).isTrue();
        LockFactory elsewhere = fixture.closing(LockFactory.connect("null"));

        Lock adopted = elsewhere.createLock(Key.deserialize(lock.transferKey().serialize()), LONG_TTL);

        assertThat(adopted.isAcquired()).isTrue();
        assertThat(adopted.key().held()).map(Key.Held::mode).contains(LockMode.SHARED);
        assertThat(adopted.release()).isTrue();
    }

    @Test
    void givenInterruptFlag_whenAcquired_thenInterruptedAsOnAnyStore(Fixture fixture) {
        Lock lock = fixture.lock();

        BackgroundCall<Lock> call = fixture.start(() -> {
            Thread.currentThread().interrupt();
            return lock.acquire();
        });

        assertThatThrownBy(call::result).isInstanceOf(InterruptedException.class);
        assertThat(lock.isAcquired()).isFalse();
    }

    @Test
    void givenAnyKey_whenTheStoreIsAsked_thenItRemembersNothingAndGrants(Fixture fixture) {
        Key never = fixture.key();

        assertThat(store.find(never)).isPresent();
        assertThat(store.delete(never)).isTrue();
        assertThat(granted(store.save(exclusive(never))).fencingToken()).isEmpty();
    }

    @Test
    void givenWhatItCannotDo_whenAskedForIt_thenItSaysSo() {
        assertThat(store.capability(ExpiringStore.class)).isEmpty();
        assertThat(store.capability(BlockingStore.class)).isEmpty();
        assertThat(store.capability(ProcessBound.class)).isEmpty();
    }
}
