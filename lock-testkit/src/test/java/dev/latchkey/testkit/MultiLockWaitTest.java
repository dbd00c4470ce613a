package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.testkit.FaultyStore.Operation;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Locks of several resources that wait in the line of a store, while that fails, or nobody wants them any more. */
class MultiLockWaitTest {

    private final InMemoryStore store = new InMemoryStore();
    private final FaultyStore faulty = new FaultyStore(store);
    private final LockFactory others = new LockFactory(store);
    private final LockFactory locks = new LockFactory(faulty);
    private final Lock holder = others.createLock("b", LONG_TTL);
    private final Lock lock = locks.all(List.of("a", "b", "c")).ttl(LONG_TTL).create();

    @BeforeEach
    void hold() {
        assertThat(holder.tryAcquire()).isTrue();
    }

    private void awaitWaiting() {
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> store.waiters("b").size() == 1);
    }

    private boolean areFree() {
        Lock all = others.all(List.of("a", "b", "c")).create();
        return all.tryAcquire() && all.release();
    }

    @Test
    void givenTheReplyToTheWaitIsLost_whenOneWasGranted_thenItIsGivenBack() throws Exception {
        faulty.next(Operation.WAIT_AND_SAVE, Fault.replyLost());
        BackgroundCall<Lock> waiting = BackgroundCall.start(lock::acquire);
        awaitWaiting();

        assertThat(holder.release()).isTrue();

        assertThatThrownBy(waiting::result).isInstanceOf(LockStorageException.class);
        assertThat(areFree()).isTrue();
    }

    @Test
    void givenItWaitsOnNoThreadOfItsCaller_whenCancelled_thenItLeavesTheLineAndHoldsNothing() {
        CompletableFuture<?> waiting = lock.acquireAsync(TimeLimits.LIMIT).toCompletableFuture();
        awaitWaiting();

        assertThat(waiting.cancel(true)).isTrue();

        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> store.waiters("b").isEmpty());
        assertThat(holder.release()).isTrue();
        assertThat(areFree()).isTrue();
    }

    @Test
    void givenItWaitsOnNoThreadOfItsCaller_whenFree_thenAllAreHeldRefreshedAndReleased() throws Exception {
        CompletionStage<?> waiting = lock.acquireAsync(TimeLimits.LIMIT);
        awaitWaiting();

        assertThat(holder.release()).isTrue();

        Object unused = waiting.toCompletableFuture().get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
        assertThat(lock.fencingTokens()).containsOnlyKeys("a", "b", "c");
        assertThat(lock.refreshAsync().toCompletableFuture()).succeedsWithin(TimeLimits.LIMIT);
        assertThat(lock.releaseAsync().toCompletableFuture()).succeedsWithin(TimeLimits.LIMIT);
        assertThat(areFree()).isTrue();
    }
}
