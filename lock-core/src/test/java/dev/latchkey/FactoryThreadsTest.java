package dev.latchkey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A process that can start no thread. */
class FactoryThreadsTest {

    private volatile boolean noThreads;

    private final FactoryContext context = new FactoryContext(new InMemoryStore(), new FactoryThreads(Refused::new));

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void givenNoThreadIsToBeHad_whenAHoldIsLost_thenItsHolderIsInterruptedAndTold() throws Exception {
        CompletableFuture<LossReason> told = new CompletableFuture<>();
        Lock lock = new LockBuilder(context, "x")
                .maxHold(Duration.ofSeconds(1))
                .interruptOnLoss()
                .onLost(told::complete)
                .create();
        assertThat(lock.tryAcquire(Duration.ofSeconds(30))).isTrue();
        noThreads = true;

        assertThatThrownBy(() -> new CountDownLatch(1).await(30, TimeUnit.SECONDS))
                .isInstanceOf(InterruptedException.class);

        assertThat(told.get(30, TimeUnit.SECONDS)).isEqualTo(LossReason.EXPIRED);
    }

    @Test
    void givenNoThreadIsToBeHad_whenThereIsOneAgain_thenTheStoreIsToldOfTheEndOfAHold() throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        context.threads().getReadyToTell();
        noThreads = true;
        Future<?> end = context.threads().end(ended::countDown);
        assertThat(end.isDone()).isFalse();

        noThreads = false;

        assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void givenNoThreadIsToBeHad_whenAcquiredToBeWatched_thenAnErrorAndOthersGetIt() {
        Lock lock = new LockBuilder(context, "x").autoRefresh().create();
        noThreads = true;

        assertThatThrownBy(lock::tryAcquire).isInstanceOf(OutOfMemoryError.class);

        assertThat(lock.release()).isFalse();
        assertThat(context.active().isEmpty()).isTrue();
        assertThat(rival().tryAcquire()).isTrue();
    }

    private Lock rival() {
        return new LockBuilder(context, "x").create();
    }

    private final class Refused extends Thread {

        Refused(Runnable task, String name) {
            super(task, name);
        }

        @Override
        public synchronized void start() {
            if (noThreads) {
                throw new OutOfMemoryError("unable to create native thread (planted)");
            }
            super.start();
        }
    }
}
