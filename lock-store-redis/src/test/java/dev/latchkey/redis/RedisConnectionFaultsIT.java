package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockStorageException;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The connection is cut in the middle of each operation, before or after the server has done it. */
class RedisConnectionFaultsIT extends BehindAProxy {

    /** What the client cannot tell apart. */
    enum Cut {
        BEFORE_THE_SERVER_SAW_IT,
        AFTER_THE_SERVER_DID_IT;

        CompletableFuture<Void> next(FaultProxy proxy) {
            return next(proxy, STATE);
        }

        CompletableFuture<Void> next(FaultProxy proxy, String part) {
            return this == BEFORE_THE_SERVER_SAW_IT ? proxy.loseRequest(part) : proxy.loseReplyTo(part);
        }
    }

    @ParameterizedTest
    @EnumSource
    void givenCutWhileTrying_whenAnswered_thenTheAnswerIsTrue(Cut cut) throws Exception {
        CompletableFuture<Void> happened = cut.next(proxy);
        // Should nobody know whether it is held, the aftermath waits for its end.
        Lock lock = locks.createLock(RESOURCE, TimeLimits.LIMIT.dividedBy(2));
        boolean acquired;
        try {
            acquired = lock.tryAcquire();
        } catch (LockStorageException inDoubt) {
            acquired = false;
        }

        assertThat(happened).isCompleted();
        assertThat(lock.remainingLifetime().orElseThrow().isZero()).isNotEqualTo(acquired);
        if (acquired) {
            assertThat(rivals.createLock(RESOURCE).tryAcquire()).isFalse();
            assertThat(lock.release()).isTrue();
        }
        checkAftermath(0);
    }

    @ParameterizedTest
    @EnumSource
    void givenCutWhileWaiting_whenTheHolderReleases_thenTheWaiterGetsIt(Cut cut) throws Exception {
        Lock holder = rivals.createLock(RESOURCE, LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        CompletableFuture<Void> happened = cut.next(proxy);
        BackgroundCall<Lock> waiting = startWaiter(locks);
        assertThat(happened).isCompleted();

        assertThat(holder.release()).isTrue();

        Lock next = waiting.result();
        long token = next.fencingToken().orElseThrow();
        assertThat(next.release()).isTrue();
        checkAftermath(token);
    }

    @ParameterizedTest
    @EnumSource
    void givenCutWhileReleasing_whenItReturns_thenNothingIsHeldByItAnyMore(Cut cut) throws Exception {
        Lock lock = held(HELD_TTL);
        long token = lock.fencingToken().orElseThrow();
        CompletableFuture<Void> happened = cut.next(proxy);

        try {
            var unused = lock.release();
        } catch (LockStorageException inDoubt) {
            assertThat(inDoubt.resource()).isEqualTo(RESOURCE);
        }

        assertThat(happened).isCompleted();
        assertThat(lock.remainingLifetime()).hasValue(Duration.ZERO);
        checkAftermath(token);
    }

    @ParameterizedTest
    @EnumSource
    void givenCutWhileHandingOver_whenItReturns_thenTheWaiterHasIt(Cut cut) throws Exception {
        Lock lock = held(LONG_TTL);
        BackgroundCall<Lock> waiting = startWaiter(rivals);
        // A lost release leaves it to expire, but not before somebody waits.
        lock.refresh(HELD_TTL);
        CompletableFuture<Void> happened = cut.next(proxy);

        try {
            var unused = lock.release();
        } catch (LockStorageException inDoubt) {
            assertThat(inDoubt.resource()).isEqualTo(RESOURCE);
        }

        assertThat(happened).isCompleted();
        Lock next = waiting.result();
        long token = next.fencingToken().orElseThrow();
        assertThat(next.release()).isTrue();
        checkAftermath(token);
    }

    /** What was granted stands in the reply that is lost. */
    @ParameterizedTest
    @EnumSource
    void givenCutWhileHandingOverWithinAStore_whenItReturns_thenTheNextOfItHasIt(Cut cut) throws Exception {
        Lock first = held(LONG_TTL);
        BackgroundCall<Lock> waiting = startWaiter(locks);
        assertThat(first.release()).isTrue();
        Lock second = waiting.result();
        BackgroundCall<Lock> behind = startWaiter(locks);
        // As above. The waiter is told, and asks again: that is not what is to be lost.
        second.refresh(HELD_TTL);
        CompletableFuture<Void> happened = cut.next(proxy, requestOf(Script.RELEASE));

        try {
            var unused = second.release();
        } catch (LockStorageException inDoubt) {
            assertThat(inDoubt.resource()).isEqualTo(RESOURCE);
        }

        assertThat(happened).isCompleted();
        Lock third = behind.result();
        long token = third.fencingToken().orElseThrow();
        assertThat(third.release()).isTrue();
        checkAftermath(token);
    }

    @ParameterizedTest
    @EnumSource
    void givenCutWhileRefreshing_whenRefreshedAgain_thenItIsTheSameHold(Cut cut) throws Exception {
        Lock lock = held(LONG_TTL);
        long token = lock.fencingToken().orElseThrow();
        CompletableFuture<Void> happened = cut.next(proxy);

        try {
            lock.refresh();
        } catch (LockStorageException inDoubt) {
            assertThat(lock.isExpired()).isFalse();
        }

        assertThat(happened).isCompleted();
        Awaitility.await()
                .ignoreException(LockStorageException.class)
                .untilAsserted(() -> assertThat(lock.refresh().fencingToken()).hasValue(token));
        assertThat(rivals.createLock(RESOURCE).tryAcquire()).isFalse();
        assertThat(lock.release()).isTrue();
        checkAftermath(token);
    }
}
