package dev.latchkey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.store.InMemoryStore;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Renewals where memory runs out. */
class RenewalSchedulerTest {

    private final FactoryThreads threads = new FactoryThreads();
    private final FactoryContext context = new FactoryContext(new InMemoryStore(), threads);

    @AfterEach
    void close() {
        context.close();
    }

    /** What was due then was never taken from the list, so that nothing was renewed any more. */
    @Test
    void givenNoMemoryWhenSomethingFallsDue_whenThereIsSomeAgain_thenTheHoldIsStillRenewed() throws Exception {
        AtomicBoolean fails = new AtomicBoolean(true);
        CountDownLatch renewedAgain = new CountDownLatch(1);
        ScheduledThreadPoolExecutor renewer = new ScheduledThreadPoolExecutor(1) {
            @Override
            public void execute(Runnable task) {
                if (fails.getAndSet(false)) {
                    throw new OutOfMemoryError("Java heap space (planted)");
                }
                super.execute(task);
                renewedAgain.countDown();
            }
        };
        replaceRenewer(renewer);
        Lock lock = new LockBuilder(context, "x")
                .ttl(Duration.ofSeconds(12))
                .autoRefresh()
                .create();
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(renewedAgain.await(60, TimeUnit.SECONDS)).isTrue();

        assertThat(fails).isFalse();
        assertThat(lock.release()).isTrue();
    }

    private void replaceRenewer(ScheduledThreadPoolExecutor renewer) throws ReflectiveOperationException {
        Field field = FactoryThreads.class.getDeclaredField("renewer");
        field.setAccessible(true);
        ((ScheduledThreadPoolExecutor) field.get(threads)).shutdownNow();
        field.set(threads, renewer);
    }
}
