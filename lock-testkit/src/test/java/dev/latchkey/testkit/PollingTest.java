package dev.latchkey.testkit;

import static dev.latchkey.testkit.FaultyStore.Operation.SAVE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockFactory;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How the core waits on a store that cannot: by asking again, one waiter of a resource at a time. */
class PollingTest {

    private static final String RESOURCE = "orders";
    private static final Duration TTL = Duration.ofMinutes(1);

    private final FaultyStore store = new FaultyStore(new PollingStore(new InMemoryStore()));
    private final LockFactory locks = new LockFactory(store);
    private final Lock holder = locks.createLock(RESOURCE, TTL);
    private final List<BackgroundCall<Lock>> waiters = new ArrayList<>();

    @AfterEach
    void close() throws InterruptedException {
        for (BackgroundCall<Lock> waiter : waiters) {
            waiter.end();
        }
        locks.close();
    }

    @Test
    @Tag("slow")
    void givenManyWaiters_whenTheyWait_thenOnlyOneAsksTheStore() {
        assertThat(holder.tryAcquire()).isTrue();
        for (int i = 0; i < 50; i++) {
            waitFor(locks.createLock(RESOURCE, TTL));
        }
        store.forgetCalls();

        await().until(() -> saves().size() >= 5);

        assertThat(saves().stream().map(FaultyStore.Call::key).distinct()).hasSize(1);
    }

    @Test
    void givenWaiters_whenTheResourceComesFree_thenTheyGetItInOrder() throws Exception {
        assertThat(holder.tryAcquire()).isTrue();
        List<Integer> order = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 8; i++) {
            int number = i;
            Lock lock = locks.createLock(RESOURCE, TTL);
            waiters.add(BackgroundCall.start(() -> {
                lock.acquire();
                order.add(number);
                lock.release();
                return lock;
            }));
            waiters.get(i).awaitWaiting();
        }

        holder.release();

        for (BackgroundCall<Lock> waiter : waiters) {
            waiter.result();
        }
        assertThat(order).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
    }

    @Test
    void givenReadersBehindAReader_whenTheWriterLeaves_thenAllOfThemEnter() throws Exception {
        assertThat(holder.tryAcquire()).isTrue();
        for (int i = 0; i < 5; i++) {
            Lock reader = locks.createLock(RESOURCE, TTL);
            waiters.add(BackgroundCall.start(reader::acquireShared));
            waiters.get(i).awaitWaiting();
        }

        holder.release();

        for (BackgroundCall<Lock> waiter : waiters) {
            assertThat(waiter.result().isAcquired()).isTrue();
        }
    }

    @Test
    void givenALine_whenSomebodyTriesWithoutWaiting_thenHeIsNotMadeToQueue() {
        assertThat(holder.tryAcquire()).isTrue();
        waitFor(locks.createLock(RESOURCE, TTL));

        assertThat(locks.createLock(RESOURCE, TTL).tryAcquire()).isFalse();
    }

    @Test
    void givenALine_whenTheHolderRenews_thenItNeedNotQueue() throws Exception {
        assertThat(holder.tryAcquire()).isTrue();
        waitFor(locks.createLock(RESOURCE, TTL));

        assertThat(holder.acquire()).isSameAs(holder);
    }

    @Test
    void givenALine_whenAReaderPromotes_thenItNeedNotQueueBehindThoseWhoWaitForIt() throws Exception {
        assertThat(holder.tryAcquireShared()).isTrue();
        waitFor(locks.createLock(RESOURCE, TTL));

        assertThat(holder.acquire().fencingToken()).isPresent();
    }

    @Test
    void givenOneBehindTheHead_whenItsWaitIsOver_thenItTriesALastTimePastTheGate() {
        assertThat(holder.tryAcquire()).isTrue();
        waitFor(locks.createLock(RESOURCE, TTL));
        Lock impatient = locks.createLock(RESOURCE, TTL);
        store.forgetCalls();

        assertThatExceptionOfType(LockConflictedException.class)
                .isThrownBy(() -> impatient.acquire(Duration.ofMillis(20)));

        assertThat(requestsOf(impatient.key())).extracting(Request::retryIntent).containsExactly(RetryIntent.ONCE);
    }

    @Test
    void givenNobodyWaits_whenOneStartsTo_thenItTriesBeforeItQueues() throws Exception {
        Lock lock = locks.createLock(RESOURCE, TTL);

        lock.acquire();

        assertThat(requestsOf(lock.key())).extracting(Request::retryIntent).containsExactly(RetryIntent.AGAIN);
    }

    @Test
    void givenAWaiter_whenItsLockIsClosed_thenItStopsAskingAtOnce() {
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiting = locks.createLock(RESOURCE, TTL);
        BackgroundCall<Lock> waiter = waitFor(waiting);

        waiting.close();

        assertThatExceptionOfType(LockConflictedException.class)
                .isThrownBy(waiter::result)
                .withMessageContaining("closed while waiting");
    }

    @Test
    void givenAHeadThatIsInterrupted_thenTheNextTakesOver() throws Exception {
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> head = waitFor(locks.createLock(RESOURCE, TTL));
        BackgroundCall<Lock> next = waitFor(locks.createLock(RESOURCE, TTL));

        head.interrupt();

        assertThatExceptionOfType(InterruptedException.class).isThrownBy(head::result);
        holder.release();
        assertThat(next.result().isAcquired()).isTrue();
    }

    @Test
    void givenAHolderThatDies_whenItsLeaseEnds_thenTheHeadGetsIt() throws Exception {
        assertThat(locks.createLock(RESOURCE, Duration.ofMillis(50)).tryAcquire())
                .isTrue();

        assertThat(locks.createLock(RESOURCE, TTL).acquire().isAcquired()).isTrue();
    }

    private BackgroundCall<Lock> waitFor(Lock lock) {
        BackgroundCall<Lock> waiter = BackgroundCall.start(lock::acquire);
        waiters.add(waiter);
        waiter.awaitWaiting();
        return waiter;
    }

    private List<FaultyStore.Call> saves() {
        return store.calls().stream().filter(call -> call.operation() == SAVE).toList();
    }

    private List<Request> requestsOf(Key key) {
        return saves().stream()
                .filter(call -> call.key().equals(key))
                .map(call -> call.request().orElseThrow())
                .toList();
    }
}
