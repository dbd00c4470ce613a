package dev.latchkey;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.threads.FactoryThreads;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
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
    @Tag("slow")
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

        assertThat(renewedAgain.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

        assertThat(fails).isFalse();
        assertThat(lock.release()).isTrue();
    }

    /** Else the holder's own calls would wait for ever for an answer that nobody takes. */
    @Test
    void givenAnErrorBetweenTwoOfABatch_whenRenewed_thenEachThatHasBegunFailsAndIsRenewedAgain() throws Exception {
        RenewalScheduler scheduler = new RenewalScheduler(
                threads, context.store(), Optional.of((ExpiringStore) context.store()), context.events());
        List<Planned> planned = List.of(new Planned(true), new Planned(false));

        for (Planned renewal : planned) {
            Future<?> unused = scheduler.schedule(renewal, Duration.ofMillis(100), Duration.ofSeconds(1));
        }

        for (Planned renewal : planned) {
            assertThat(renewal.settled.await(LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(renewal.inFlight).isFalse();
        }
    }

    private static final class Planned implements RenewalScheduler.Renewal {

        private final CountDownLatch settled = new CountDownLatch(1);
        private final boolean isFirst;
        private volatile boolean inFlight;

        Planned(boolean isFirst) {
            this.isFirst = isFirst;
        }

        @Override
        public String shownResource() {
            return "planned";
        }

        @Override
        public void isDue() {}

        @Override
        public Duration remaining() {
            if (isFirst) {
                throw new OutOfMemoryError("Java heap space (planted)");
            }
            return Duration.ofSeconds(1);
        }

        @Override
        public Optional<Request> begin() {
            inFlight = true;
            return Optional.of(new Request(Key.of("x"), LockMode.EXCLUSIVE, Duration.ofSeconds(1), RetryIntent.ONCE));
        }

        @Override
        public boolean settle(RefreshResult result) {
            fail();
            return false;
        }

        @Override
        public void fail() {
            inFlight = false;
            settled.countDown();
        }
    }

    private void replaceRenewer(ScheduledThreadPoolExecutor renewer) throws ReflectiveOperationException {
        Field field = FactoryThreads.class.getDeclaredField("renewer");
        field.setAccessible(true);
        ((ScheduledThreadPoolExecutor) field.get(threads)).shutdownNow();
        field.set(threads, renewer);
    }
}
