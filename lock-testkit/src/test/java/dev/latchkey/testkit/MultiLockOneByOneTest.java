package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.FaultyStore.Operation;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Locks of several resources over a store that takes one at a time, which may fail at each. */
class MultiLockOneByOneTest implements MultiLockContract, MultiLockLeaseContract {

    private final PersistingStore store = new OneByOneStore();
    private final FaultyStore faulty = new FaultyStore(store);
    private final LockFactory locks = new LockFactory(faulty);

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return new OneByOneStore();
    }

    @Test
    void givenSeveral_whenAcquired_thenInTheOrderOfTheirNames() {
        assertThat(locks.all(List.of("c", "a", "b")).create().tryAcquire()).isTrue();

        assertThat(faulty.calls()).extracting(call -> call.key().resource()).containsExactly("a", "b", "c");
    }

    @Test
    void givenTheSecondIsRefused_whenAcquired_thenTheThirdIsNotAskedForAndTheFirstGivenBack() {
        assertThat(new LockFactory(store).createLock("b").tryAcquire()).isTrue();

        assertThat(locks.all(List.of("a", "b", "c")).create().tryAcquire()).isFalse();

        assertThat(faulty.operations()).containsExactly(Operation.SAVE, Operation.SAVE, Operation.DELETE);
        assertThat(free("a")).isTrue();
    }

    @Test
    void givenTheReplyIsLostInTheMiddle_whenAcquired_thenEverythingIsGivenBack() {
        faulty.next(Operation.SAVE, Fault.none(), Fault.replyLost());
        Lock lock = locks.all(List.of("a", "b", "c")).create();

        assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockStorageException.class);

        assertThat(free("a") && free("b") && free("c")).isTrue();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.fencingTokens()).containsOnlyKeys("a", "b", "c");
    }

    @Test
    @Tag("slow")
    void givenTheStoreIsGoneInTheMiddle_whenAcquired_thenAFailureThatIsNoConflictAndTheLeaseEndsIt() {
        faulty.next(Operation.SAVE, Fault.none()).always(Operation.SAVE, Fault.unreachable());
        faulty.always(Operation.DELETE, Fault.unreachable());
        // Not over before it is seen that "a" is held.
        Lock lock = locks.all(List.of("a", "b", "c")).ttl(Duration.ofSeconds(5)).create();

        assertThatThrownBy(lock::tryAcquire)
                .isInstanceOfSatisfying(
                        LockStorageException.class,
                        failure -> assertThat(failure.getSuppressed()).isNotEmpty());

        assertThat(lock.isAcquired()).isFalse();
        assertThat(free("b") && free("c")).isTrue();
        assertThat(free("a")).as("nobody could give it back").isFalse();
        faulty.heal();
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> free("a"));
    }

    /** What could not be given back, or was never granted, is not asked for with the same tokens again. */
    @Test
    void givenTheReplyIsLost_whenAcquiredAgain_thenWithOtherTokens() {
        Lock lock = locks.all(List.of("a", "b")).create();
        faulty.next(Operation.SAVE, Fault.none(), Fault.replyLost());
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockStorageException.class);
        var before = faulty.calls().stream().map(FaultyStore.Call::key).toList();
        faulty.forgetCalls();

        assertThat(lock.tryAcquire()).isTrue();

        assertThat(faulty.calls()).extracting(FaultyStore.Call::key).doesNotContainAnyElementsOf(before);
    }

    @Test
    void givenOneRefreshFails_whenRefreshed_thenAFailureAndAllAreHeldStill() {
        Lock lock = locks.all(List.of("a", "b")).create();
        assertThat(lock.tryAcquire()).isTrue();
        faulty.next(Operation.REFRESH, Fault.none(), Fault.replyLost());

        assertThatThrownBy(lock::refresh).isInstanceOf(LockStorageException.class);

        assertThat(lock.isExpired()).isFalse();
        assertThat(lock.refresh().isAcquired()).isTrue();
        assertThat(lock.release()).isTrue();
    }

    @Test
    void givenOneReleaseFails_whenReleased_thenAFailureAndTheOthersAreFree() {
        Lock lock = locks.all(List.of("a", "b", "c")).create();
        assertThat(lock.tryAcquire()).isTrue();
        faulty.next(Operation.DELETE, Fault.none(), Fault.unreachable());

        assertThatThrownBy(lock::release).isInstanceOf(LockStorageException.class);

        assertThat(free("a") && free("c")).isTrue();
        assertThat(free("b")).isFalse();
    }

    private boolean free(String resource) {
        Lock lock = new LockFactory(store).createLock(resource);
        return lock.tryAcquire() && lock.release();
    }
}
