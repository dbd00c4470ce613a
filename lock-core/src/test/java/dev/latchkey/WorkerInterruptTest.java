package dev.latchkey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Effect.Step;
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
            LockSettings.LONGEST,
            Optional.empty(),
            List.of());
    private final LockEngine lock =
            new LockEngine(context, Key.of("x"), settings, LockSettings.Origin.MADE_HERE, Optional.empty());

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

        await().until(WorkerInterruptTest::nobodyInterrupts);
        told.countDown();
        assertThat(wasInterrupted.get()).isFalse();
        worker.join();
    }

    private void acquire() {
        assertThat(lock.tryAcquire(LockMode.EXCLUSIVE)).isEqualTo(LockEngine.Outcome.GRANTED);
    }

    private static boolean nobodyInterrupts() {
        return Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("latchkey-interrupter"));
    }
}
