package dev.latchkey.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.curator.InterProcessLocks.ReadWriteMutexes;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.Fault;
import dev.latchkey.testkit.FaultyStore;
import dev.latchkey.testkit.FaultyStore.Operation;
import dev.latchkey.testkit.TimeLimits;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What Curator's tests do not ask, or ask only of its own classes. */
class InterProcessLocksTest {

    private final FaultyStore store = new FaultyStore(new InMemoryStore());
    private final LockFactory factory = new LockFactory(store);
    private final InterProcessLocks locks = new InterProcessLocks(factory);

    @AfterEach
    void close() {
        store.heal();
        factory.close();
    }

    @Test
    void givenAMutex_whenAcquiredByAnotherObjectOrThread_thenRefused() throws Exception {
        InterProcessLock mutex = locks.mutex("/locks/a");
        InterProcessLock other = locks.mutex("/locks/a");
        mutex.acquire();

        assertThat(other.acquire(1, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(other.isAcquiredInThisProcess()).isFalse();
        assertThat(BackgroundCall.start(() -> mutex.acquire(-1, TimeUnit.SECONDS))
                        .result())
                .isFalse();
        assertThat(BackgroundCall.start(mutex::isAcquiredInThisProcess).result())
                .isTrue();

        mutex.release();
        assertThat(other.acquire(0, TimeUnit.SECONDS)).isTrue();
        other.release();
    }

    @Test
    void givenNotHeld_whenReleased_thenThatIsSaid() throws Exception {
        InterProcessLock mutex = locks.mutex("/locks/a");
        assertThatThrownBy(mutex::release).isInstanceOf(IllegalMonitorStateException.class);
        mutex.acquire();
        assertThatThrownBy(() -> BackgroundCall.start(() -> {
                            mutex.release();
                            return true;
                        })
                        .result())
                .isInstanceOf(IllegalMonitorStateException.class);
        assertThat(mutex.isAcquiredInThisProcess()).isTrue();
        mutex.release();
    }

    @Test
    void givenAWait_whenInterrupted_thenThatIsSaidAndNothingIsHeld() throws Exception {
        InterProcessLock mutex = locks.mutex("/locks/a");
        mutex.acquire();
        BackgroundCall<Boolean> waiter = BackgroundCall.start(() -> {
            mutex.acquire();
            return true;
        });
        waiter.awaitWaiting();

        waiter.interrupt();

        assertThatThrownBy(waiter::result).isInstanceOf(InterruptedException.class);
        mutex.release();
        assertThat(mutex.isAcquiredInThisProcess()).isFalse();
    }

    /** Curator's mutex says that it is acquired after its session has ended, and is released without a word. */
    @Test
    void givenALoss_thenItIsNotAcquiredAndTheReleaseSaysSo() throws Exception {
        InterProcessLock mutex = locks.mutex("/locks/a");
        mutex.acquire();
        Key holder = store.calls().get(store.calls().size() - 1).key();
        assertThat(store.lose(holder, LossReason.SESSION_LOST)).isTrue();

        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> !mutex.isAcquiredInThisProcess());

        assertThatThrownBy(mutex::acquire).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(mutex::release)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasMessageContaining("was lost");
    }

    @Test
    void givenTheStoreFails_whenAcquired_thenThatIsSaidAndNothingIsHeld() {
        InterProcessLock mutex = locks.mutex("/locks/a");
        store.always(Operation.SAVE, Fault.unreachable()).always(Operation.WAIT_AND_SAVE, Fault.unreachable());

        assertThatThrownBy(mutex::acquire).isInstanceOf(LockStorageException.class);
        assertThatThrownBy(() -> mutex.acquire(1, TimeUnit.SECONDS)).isInstanceOf(LockStorageException.class);

        assertThat(mutex.isAcquiredInThisProcess()).isFalse();
    }

    @Test
    void givenAWriter_whenItReadsToo_thenItsHoldIsDemotedWithoutAGap() throws Exception {
        ReadWriteMutexes mine = locks.readWriteLock("/locks/a");
        ReadWriteMutexes other = locks.readWriteLock("/locks/a");
        mine.writeLock().acquire();
        assertThat(other.readLock().acquire(0, TimeUnit.SECONDS)).isFalse();
        mine.readLock().acquire();

        mine.writeLock().release();

        assertThat(mine.writeLock().isAcquiredInThisProcess()).isFalse();
        assertThat(mine.readLock().isAcquiredInThisProcess()).isTrue();
        assertThat(other.writeLock().acquire(0, TimeUnit.SECONDS)).isFalse();
        assertThat(other.readLock().acquire(0, TimeUnit.SECONDS)).isTrue();
        other.readLock().release();
        mine.readLock().release();
        assertThat(other.writeLock().acquire(0, TimeUnit.SECONDS)).isTrue();
        other.writeLock().release();
    }

    /** Curator's would wait for itself. */
    @Test
    void givenAReader_whenItWrites_thenItIsPromotedWhenItIsAlone() throws Exception {
        ReadWriteMutexes mine = locks.readWriteLock("/locks/a");
        ReadWriteMutexes other = locks.readWriteLock("/locks/a");
        mine.readLock().acquire();
        other.readLock().acquire();
        assertThat(mine.writeLock().acquire(1, TimeUnit.MILLISECONDS)).isFalse();

        other.readLock().release();

        assertThat(mine.writeLock().acquire(1, TimeUnit.SECONDS)).isTrue();
        mine.writeLock().release();
        mine.readLock().release();
        assertThat(other.writeLock().acquire(0, TimeUnit.SECONDS)).isTrue();
        other.writeLock().release();
    }
}
