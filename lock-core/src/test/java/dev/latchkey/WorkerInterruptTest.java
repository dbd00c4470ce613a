package dev.latchkey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WorkerInterruptTest {

    private final FactoryContext context = new FactoryContext(new InMemoryStore());
    private final LockSettings settings = new LockSettings(
            Duration.ofMinutes(5),
            LockSettings.RenewalPolicy.BY_THE_HOLDER,
            LockSettings.AutoRelease.OFF,
            LockSettings.OnLoss.IS_INTERRUPTED,
            Duration.ZERO,
            Durations.LONGEST,
            Optional.empty(),
            List.of());
    private final LockEngine lock = new LockEngine(context, Key.of("x"), settings, LockEngine.Origin.MADE_HERE, null);

    @AfterEach
    void close() {
        context.close();
    }

    /** Who found the loss stopped between the transition and the telling, for as long as the next hold lasted. */
    @Test
    void givenALossIsToldLate_whenTheNextHoldWasReleasedBefore_thenNobodyIsInterrupted() throws Exception {
        var lost = new CompletableFuture<Optional<Loss>>();
        var released = new CountDownLatch(1);
        var told = new CountDownLatch(1);
        var wasInterrupted = new CompletableFuture<Boolean>();
        Thread worker = new Thread(() -> {
            acquire();
            lost.complete(lock.state().lose(lock.state().watch().orElseThrow(), LossReason.EXPIRED));
            acquire();
            boolean wasOurs = lock.release().kind() == ReleaseResult.Kind.WAS_OURS;
            released.countDown();
            try {
                told.await();
                wasInterrupted.complete(!wasOurs);
            } catch (InterruptedException e) {
                wasInterrupted.complete(true);
            }
        });
        worker.start();
        Optional<Loss> loss = lost.get();
        assertThat(loss).isPresent();
        released.await();

        lock.monitor().announce(loss);

        await().until(WorkerInterruptTest::nobodyInterrupts);
        told.countDown();
        assertThat(wasInterrupted.get()).isFalse();
        worker.join();
    }

    private void acquire() {
        assertThat(lock.tryAcquire(LockMode.EXCLUSIVE)).isEqualTo(Acquirer.Outcome.GRANTED);
    }

    private static boolean nobodyInterrupts() {
        return Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("latchkey-interrupter"));
    }
}
