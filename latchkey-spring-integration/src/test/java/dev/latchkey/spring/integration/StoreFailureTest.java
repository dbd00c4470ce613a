package dev.latchkey.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.testkit.Fault;
import dev.latchkey.testkit.FaultyStore;
import dev.latchkey.testkit.FaultyStore.Operation;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.integration.support.locks.DistributedLock;

/** A store that fails is an exception of Spring, and never the answer that somebody else holds the lock. */
@SuppressWarnings("LockNotBeforeTry") // what a test that fails leaves locked, nobody waits for
class StoreFailureTest {

    private final FaultyStore store = new FaultyStore(new InMemoryStore());
    private final LockFactory locks = new LockFactory(store);
    private final LatchkeyLockRegistry registry = new LatchkeyLockRegistry(locks);
    private final DistributedLock lock = registry.obtain("x");

    @AfterEach
    void close() {
        store.heal();
        locks.close();
    }

    @Test
    void givenTheStoreFails_whenALockIsAcquired_thenThatIsSaidInEachWayAndNothingIsHeld() {
        assertCannotAcquire(lock::lock);
        assertCannotAcquire(() -> lock.lock(Duration.ofMinutes(1)));
        assertCannotAcquire(lock::lockInterruptibly);
        assertCannotAcquire(lock::tryLock);
        assertCannotAcquire(() -> lock.tryLock(1, TimeUnit.SECONDS));
        assertCannotAcquire(() -> lock.tryLock(Duration.ZERO, Duration.ofMinutes(1)));

        assertThat(lock.tryLock()).isTrue();
        lock.unlock();
    }

    @Test
    void givenTheStoreFails_whenALockIsUnlockedOrRenewed_thenThatIsSaid() {
        lock.lock();
        store.next(Operation.REFRESH, Fault.unreachable()).next(Operation.DELETE, Fault.unreachable());

        assertFails(() -> registry.renewLock("x"));
        assertFails(lock::unlock);

        assertThatThrownBy(lock::unlock).as("the thread holds nothing").isInstanceOf(IllegalStateException.class);
    }

    @Test
    void givenAKeyThatIsNoString_whenObtained_thenThatIsSaid() {
        assertThatThrownBy(() -> registry.obtain(new Object()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("java.lang.Object");
    }

    @Test
    void givenAWrongTtl_whenARegistryIsCreated_thenThatIsSaid() {
        assertThatThrownBy(() -> new LatchkeyLockRegistry(locks, Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private void assertCannotAcquire(ThrowingCallable call) {
        store.always(Operation.SAVE, Fault.replyLost()).always(Operation.WAIT_AND_SAVE, Fault.replyLost());
        assertThatThrownBy(call)
                .isInstanceOf(CannotAcquireLockException.class)
                .hasCauseInstanceOf(LockStorageException.class);
        store.heal();
    }

    private static void assertFails(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(DataAccessResourceFailureException.class)
                .hasCauseInstanceOf(LockStorageException.class);
    }
}
