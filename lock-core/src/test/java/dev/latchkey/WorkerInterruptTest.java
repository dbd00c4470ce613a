package dev.latchkey;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Effect.Step;
import dev.latchkey.events.AcquireCall.Outcome;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.threads.FactoryThreads;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WorkerInterruptTest {

    private final FactoryContext context = new FactoryContext(new InMemoryStore());
    private final LockEngine lock = new LockEngine(
            context,
            Key.of("x"),
            interruptedOnLoss(Duration.ofMinutes(5), LockSettings.LONGEST),
            LockSettings.Origin.MADE_HERE,
            Optional.empty());

    private static LockSettings interruptedOnLoss(Duration ttl, Duration maxHold) {
        return new LockSettings(
                ttl,
                LockSettings.RenewalPolicy.BY_THE_HOLDER,
                LockSettings.AutoRelease.ON,
                LockSettings.OnLoss.IS_INTERRUPTED,
                Duration.ZERO,
                maxHold,
                Optional.empty(),
                List.of(),
                LockSettings.Resources.ONE,
                Duration.ZERO);
    }

    @AfterEach
    void close() {
        context.close();
    }

    /** Who found the loss stopped between the transition and the telling, for as long as the next hold lasted. */
    @Test
    void givenALossIsToldLate_whenTheNextHoldWasReleasedBefore_thenNobodyIsInterrupted() throws Exception {
        var lost = new CompletableFuture<Step<LossReason>>();
        var released = new CountDownLatch(1);
        var told = new CountDownLatch(1);
        var wasInterrupted = new CompletableFuture<Boolean>();
        Thread worker = new Thread(() -> {
            acquire();
            lost.complete(lock.state().lose(lock.state().tracker().orElseThrow(), LossReason.EXPIRED, null));
            acquire();
            boolean wasOurs = lock.held().release().kind() == Releaser.Result.Kind.WAS_OURS;
            released.countDown();
            try {
                told.await();
                wasInterrupted.complete(!wasOurs);
            } catch (InterruptedException e) {
                wasInterrupted.complete(true);
            }
        });
        worker.start();
        Step<LossReason> loss = lost.get();
        assertThat(loss.effect()).isInstanceOf(Effect.Loss.class);
        released.await();

        lock.held().monitor().announce(loss);

        await().atMost(LIMIT).until(WorkerInterruptTest::nobodyInterrupts);
        told.countDown();
        assertThat(wasInterrupted.get()).isFalse();
        worker.join();
    }

    /** The thread that interrupts came late: a rival had the lock while the worker knew of nothing. */
    @Test
    void givenTheInterrupterIsLate_whenAnotherThreadAcquiresAnew_thenTheWorkerIsInterruptedBeforeTheStoreForgets()
            throws Exception {
        try (Worker worker = new Worker(interruptedOnLoss(Duration.ofMillis(300), LockSettings.LONGEST))) {
            await().atMost(LIMIT).until(worker.lock.state()::isExpired);

            assertThat(worker.lock.tryAcquire(LockMode.EXCLUSIVE)).isEqualTo(Outcome.GRANTED);

            assertThat(worker.wasInterruptedAtDelete).containsExactly(true);
        }
    }

    @Test
    void givenTheInterrupterIsLate_whenARenewalIsAnsweredAfterTheLoss_thenTheWorkerIsInterruptedBeforeTheStoreForgets()
            throws Exception {
        try (Worker worker = new Worker(interruptedOnLoss(Duration.ofMinutes(5), LockSettings.LONGEST))) {
            LockState state = worker.lock.state();
            worker.store.afterSave = () -> worker.lock
                    .held()
                    .monitor()
                    .announce(state.lose(state.tracker().orElseThrow(), LossReason.SESSION_LOST, null));

            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(() -> worker.lock.tryAcquire(LockMode.EXCLUSIVE));

            assertThat(worker.wasInterruptedAtDelete).containsExactly(true);
        }
    }

    @Test
    void givenTheInterrupterIsLate_whenAnotherThreadReleases_thenTheWorkerIsInterruptedBeforeTheStoreForgets()
            throws Exception {
        try (Worker worker = new Worker(interruptedOnLoss(Duration.ofMillis(300), LockSettings.LONGEST))) {
            await().atMost(LIMIT).until(worker.lock.state()::isExpired);

            assertThat(worker.lock.held().release().kind()).isNotEqualTo(Releaser.Result.Kind.WAS_OURS);

            assertThat(worker.wasInterruptedAtDelete).containsExactly(true);
        }
    }

    @Test
    void givenTheInterrupterIsLate_whenTheFactoryIsClosed_thenTheWorkerIsInterruptedBeforeTheStoreForgets()
            throws Exception {
        LockSettings withMaxHold = interruptedOnLoss(Duration.ofMinutes(5), Duration.ofMillis(300));
        try (Worker worker = new Worker(withMaxHold)) {
            await().atMost(LIMIT).until(() -> worker.lock.state().lastLoss().isOverdue());

            worker.context.close();

            assertThat(worker.wasInterruptedAtDelete).containsExactly(true);
        }
    }

    /** Works under a hold in a process where the thread that interrupts does not run before the end. */
    private static final class Worker implements AutoCloseable {

        private final CountDownLatch end = new CountDownLatch(1);
        private final List<Boolean> wasInterruptedAtDelete = new CopyOnWriteArrayList<>();
        private final Store store = new Store(() -> wasInterruptedAtDelete.add(isInterrupted()));
        private final FactoryContext context = new FactoryContext(
                store,
                new FactoryThreads((task, name) ->
                        new Thread(name.equals("latchkey-interrupter") ? () -> runAtTheEnd(task) : task, name)));
        private final LockEngine lock;
        private final Thread thread;

        Worker(LockSettings settings) throws Exception {
            lock = new LockEngine(context, Key.of("x"), settings, LockSettings.Origin.MADE_HERE, Optional.empty());
            var acquired = new CompletableFuture<Outcome>();
            thread = new Thread(() -> {
                acquired.complete(lock.tryAcquire(LockMode.EXCLUSIVE));
                while (end.getCount() > 0) {
                    Thread.onSpinWait();
                }
            });
            thread.start();
            // It may be over by now.
            assertThat(acquired.get()).isEqualTo(Outcome.GRANTED);
        }

        private boolean isInterrupted() {
            return thread.isInterrupted();
        }

        private void runAtTheEnd(Runnable task) {
            try {
                end.await();
                task.run();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void close() {
            end.countDown();
            context.close();
        }
    }

    /** Says when something is deleted, and has things happen before a save is answered. */
    private static final class Store implements ExpiringStore {

        private final InMemoryStore memory = new InMemoryStore();
        private final Runnable whenDeleted;
        private volatile Runnable afterSave = () -> {};

        Store(Runnable whenDeleted) {
            this.whenDeleted = whenDeleted;
        }

        @Override
        public Response save(Request request) {
            Response response = memory.save(request);
            afterSave.run();
            return response;
        }

        @Override
        public Response refresh(Request request) {
            return memory.refresh(request);
        }

        @Override
        public boolean delete(Key key) {
            whenDeleted.run();
            return memory.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return memory.find(key);
        }
    }

    private void acquire() {
        assertThat(lock.tryAcquire(LockMode.EXCLUSIVE)).isEqualTo(Outcome.GRANTED);
    }

    private static boolean nobodyInterrupts() {
        return Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("latchkey-interrupter"));
    }
}
