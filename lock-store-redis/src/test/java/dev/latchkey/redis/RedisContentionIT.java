package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.exclusive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Two stores contend for one lock, with and without threads that wait. Waits are short, long, withdrawn or interrupted, and the
 * connections of one store are cut. Nobody holds beside another, tokens grow, no wait hangs, and nothing is left.
 */
class RedisContentionIT extends WithAStore {

    private static final String RESOURCE = "contended";
    private static final int THREADS = 8;
    private static final int CYCLES = 300;

    private final ExecutorService executor = Executors.newCachedThreadPool();
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicLong lastToken = new AtomicLong();
    private final AtomicInteger granted = new AtomicInteger();

    private FaultProxy proxy;
    private RedisStore far;

    @BeforeEach
    void openFar() {
        proxy = FaultProxy.to(server.address());
        far = open("redis://" + proxy.address());
    }

    @AfterEach
    void closeFar() {
        executor.shutdownNow();
        far.close();
        proxy.close();
    }

    @Test
    void givenTwoStores_whenWaitsEndInAllWays_thenNobodyHoldsBesideAnotherAndNothingIsLeft() throws Exception {
        contend(0);
    }

    @Test
    void givenTwoStores_whenConnectionsAreCutAsWell_thenNobodyHoldsBesideAnotherAndNothingIsLeft() throws Exception {
        contend(20);
    }

    private void contend(int cuts) throws Exception {
        List<Future<?>> runs = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            long seed = i;
            runs.add(executor.submit(() -> {
                Contender contender = new Contender(seed % 2 == 0 ? store : far, new Random(seed));
                for (int cycle = 0; cycle < CYCLES; cycle++) {
                    contender.cycle();
                }
                return null;
            }));
        }
        for (int i = 0; i < cuts; i++) {
            int before = granted.get();
            Awaitility.await()
                    .until(() -> granted.get() > before + 10 || runs.stream().allMatch(Future::isDone));
            proxy.cut();
        }
        for (Future<?> run : runs) {
            run.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(granted.get()).isGreaterThan(THREADS * CYCLES / 4);
        Awaitility.await().untilAsserted(() -> {
            assertThat(keys.held()).isEmpty();
            assertThat(keys.waiting()).isEmpty();
        });
    }

    /** What one thread does. */
    private final class Contender {

        private final RedisStore mine;
        private final Random random;

        Contender(RedisStore mine, Random random) {
            this.mine = mine;
            this.random = random;
        }

        void cycle() throws Exception {
            Key key = Key.of(RESOURCE);
            Duration maxWait = random.nextInt(4) == 0 ? Duration.ofMillis(random.nextInt(30)) : TimeLimits.LIMIT;
            CompletableFuture<Void> withdrawn = new CompletableFuture<>();
            if (random.nextInt(4) == 0) {
                withdrawn.completeOnTimeout(null, random.nextInt(10_000), TimeUnit.MICROSECONDS);
            }
            try {
                Response response = random.nextBoolean()
                        ? mine.waitAndSave(exclusive(key, LONG_TTL), maxWait, withdrawn)
                        : withoutAThread(key, maxWait, withdrawn);
                if (response instanceof Response.Granted hold) {
                    hold(hold.fencingToken().orElseThrow());
                    release(key);
                }
            } catch (LockStorageException e) {
                // It may have been granted without an answer.
                release(key);
            }
        }

        private Response withoutAThread(Key key, Duration maxWait, CompletableFuture<Void> withdrawn) throws Exception {
            try {
                return mine.waitAndSaveAsync(exclusive(key, LONG_TTL), maxWait, withdrawn, executor)
                        .toCompletableFuture()
                        .get(2 * TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                throw e.getCause() instanceof LockStorageException failure ? failure : e;
            }
        }

        private void hold(long token) {
            assertThat(inside.incrementAndGet()).as("holders").isEqualTo(1);
            assertThat(lastToken.getAndSet(token)).isLessThan(token);
            if (random.nextInt(20) == 0) {
                // Those who are at home go into the queue.
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(30));
            }
            granted.incrementAndGet();
            inside.decrementAndGet();
        }

        private void release(Key key) {
            boolean isKnown = false;
            while (!isKnown) {
                try {
                    mine.delete(key);
                    isKnown = true;
                } catch (LockStorageException e) {
                    // Asked again: until it is known, it may be held.
                    isKnown = false;
                }
            }
        }
    }
}
