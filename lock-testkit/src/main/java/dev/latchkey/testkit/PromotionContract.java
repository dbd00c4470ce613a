package dev.latchkey.testkit;

import static dev.latchkey.testkit.WaitingContract.LONG_WAIT;
import static dev.latchkey.testkit.WaitingContract.SHORT_WAIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockMode;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Promoting and demoting with a {@link Lock}; part of {@link SharedStoreContract}. */
public interface PromotionContract extends StoreContract {

    @Test
    default void givenOnlyReader_whenItAcquires_thenPromoted(Fixture fixture) throws Exception {
        Lock lock = reader(fixture);

        lock.acquire();

        assertThat(mode(lock)).contains(LockMode.EXCLUSIVE);
        assertThat(fixture.lock().tryAcquireShared()).isFalse();
    }

    @Test
    default void givenPromoted_whenReleasedOnce_thenFree(Fixture fixture) {
        Lock lock = reader(fixture);
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.release()).isTrue();

        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenTwoReaders_whenOneTriesToPromote_thenFalseAndItReadsStill(Fixture fixture) {
        Lock lock = reader(fixture);
        Lock other = reader(fixture);

        boolean acquired = lock.tryAcquire();

        assertThat(acquired).isFalse();
        assertThat(mode(lock)).contains(LockMode.SHARED);
        assertThat(lock.isAcquired()).isTrue();
        assertThat(lock.isExpired()).isFalse();
        assertThat(other.isAcquired()).isTrue();
    }

    /** F4: after a refused promotion the shared hold was no longer released. */
    @Test
    default void givenPromotionRefused_whenClosed_thenTheSharedHoldIsReleased(Fixture fixture) {
        Lock lock = reader(fixture);
        Lock other = reader(fixture);
        assertThat(lock.tryAcquire()).isFalse();

        lock.close();

        assertThat(other.release()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenPromotionWaits_whenTheOtherReaderReleases_thenPromoted(Fixture fixture) throws Exception {
        Lock lock = reader(fixture);
        Lock other = reader(fixture);
        BackgroundCall<Lock> promoting = fixture.startWaiting(lock::acquire);
        assertThat(promoting.isDone()).isFalse();

        assertThat(other.release()).isTrue();

        assertThat(mode(fixture.woken(promoting))).contains(LockMode.EXCLUSIVE);
        assertThat(fixture.lock().tryAcquireShared()).isFalse();
    }

    @Test
    default void givenPromotionWaits_whenItsTimeIsOver_thenItReadsStill(Fixture fixture) {
        Lock lock = reader(fixture);
        Lock other = reader(fixture);

        assertThatThrownBy(() -> lock.acquire(SHORT_WAIT)).isInstanceOf(LockConflictedException.class);

        assertThat(mode(lock)).contains(LockMode.SHARED);
        assertThat(lock.isAcquired()).isTrue();
        assertThat(other.release()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
    }

    @Test
    default void givenPromotionGaveUp_whenOthersRead_thenTheyMay(Fixture fixture) throws Exception {
        Lock lock = reader(fixture);
        reader(fixture);
        assertThat(lock.tryAcquire(SHORT_WAIT)).isFalse();

        boolean acquired = fixture.lock().tryAcquireShared(LONG_WAIT);

        assertThat(acquired).isTrue();
    }

    @Test
    default void givenPromotionWaits_whenInterrupted_thenItReadsStill(Fixture fixture) {
        Lock lock = reader(fixture);
        Lock other = reader(fixture);
        BackgroundCall<Lock> promoting = fixture.startWaiting(lock::acquire);

        promoting.interrupt();

        assertThatThrownBy(promoting::result).isInstanceOf(InterruptedException.class);
        assertThat(mode(lock)).contains(LockMode.SHARED);
        assertThat(lock.isAcquired()).isTrue();
        assertThat(other.release()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
        assertThat(lock.release()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenPromotionWaits_whenReleasedByAnotherThread_thenNothingIsHeld(Fixture fixture) {
        Lock lock = reader(fixture);
        Lock other = reader(fixture);
        BackgroundCall<Lock> promoting = fixture.startWaiting(lock::acquire);

        assertThat(lock.release()).isTrue();

        assertThatThrownBy(promoting::result).isInstanceOf(LockConflictedException.class);
        assertThat(lock.isAcquired()).isFalse();
        assertThat(other.release()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenWriter_whenItAcquiresShared_thenDemoted(Fixture fixture) throws Exception {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();

        lock.acquireShared();

        assertThat(mode(lock)).contains(LockMode.SHARED);
        assertThat(fixture.lock().tryAcquire()).isFalse();
        assertThat(fixture.lock().tryAcquireShared()).isTrue();
    }

    @Test
    default void givenDemoted_whenPromotedAgain_thenExclusive(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.tryAcquireShared()).isTrue();

        boolean acquired = lock.tryAcquire();

        assertThat(acquired).isTrue();
        assertThat(fixture.lock().tryAcquireShared()).isFalse();
    }

    @Test
    default void givenWriterWaits_whenTheHolderDemotes_thenItWaitsUntilReleased(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> writing = fixture.startWaiting(fixture.lock()::acquire);
        assertThat(holder.tryAcquireShared()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
        assertThat(writing.isDone()).isFalse();

        assertThat(holder.release()).isTrue();

        assertThat(mode(fixture.woken(writing))).contains(LockMode.EXCLUSIVE);
    }

    @Test
    default void givenReaderWaits_whenTheHolderDemotes_thenBothRead(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> reading = fixture.startWaiting(fixture.lock()::acquireShared);

        assertThat(holder.tryAcquireShared()).isTrue();

        assertThat(mode(fixture.woken(reading))).contains(LockMode.SHARED);
        assertThat(holder.isAcquired()).isTrue();
    }

    private static Lock reader(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquireShared()).isTrue();
        return lock;
    }

    private static Optional<LockMode> mode(Lock lock) {
        return lock.key().held().map(Key.Held::mode);
    }
}
