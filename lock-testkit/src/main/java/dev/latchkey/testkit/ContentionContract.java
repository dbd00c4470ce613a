package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.combined.CombinedStore;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many threads of this JVM at once: nobody gets in beside the holder, no update is lost, nothing stays behind. */
public interface ContentionContract extends StoreContract {

    /** What the lock guards: nothing in it is safe without. */
    final class Unguarded {
        private int number;
        private final List<OptionalLong> fencingTokens = new ArrayList<>();

        private void increment(OptionalLong fencingToken) {
            int read = number;
            LockSupport.parkNanos(1);
            number = read + 1;
            fencingTokens.add(fencingToken);
        }
    }

    /**
     * Returns how often each thread takes the lock.
     *
     * @return 50 unless a slow store says less
     */
    default int holdsPerThread() {
        return 50;
    }

    @Test
    @Tag("slow")
    default void givenThreads_whenEachIncrementsUnderTheLock_thenNoUpdateIsLost(Fixture fixture) throws Exception {
        Unguarded counter = new Unguarded();
        int threads = 6;
        List<BackgroundCall<Boolean>> calls = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            calls.add(fixture.start(() -> {
                for (int hold = 0; hold < holdsPerThread(); hold++) {
                    try (Lock lock = fixture.lock().acquire()) {
                        counter.increment(lock.fencingToken());
                    }
                }
                return true;
            }));
        }

        for (BackgroundCall<Boolean> call : calls) {
            assertThat(call.result()).isTrue();
        }

        assertThat(counter.number).isEqualTo(threads * holdsPerThread());
        assertGrow(counter.fencingTokens);
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenThreadsThatOnlyTry_whenTheyRun_thenNoUpdateIsLost(Fixture fixture) throws Exception {
        Unguarded counter = new Unguarded();
        AtomicInteger holds = new AtomicInteger();
        List<BackgroundCall<Boolean>> calls = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            calls.add(fixture.start(() -> {
                Lock lock = fixture.lock();
                for (int hold = 0; hold < 5 * holdsPerThread(); hold++) {
                    if (lock.tryAcquire()) {
                        holds.incrementAndGet();
                        counter.increment(lock.fencingToken());
                        assertThat(lock.release()).isTrue();
                    }
                }
                return true;
            }));
        }

        for (BackgroundCall<Boolean> call : calls) {
            assertThat(call.result()).isTrue();
        }

        assertThat(counter.number).isEqualTo(holds.get()).isPositive();
        assertGrow(counter.fencingTokens);
    }

    @Test
    @Tag("slow")
    default void givenFree_whenManyTryAtOnce_thenExactlyOneWins(Fixture fixture) throws Exception {
        int rivals = 8;
        for (int round = 0; round < 10; round++) {
            String resource = fixture.resource() + round;
            CyclicBarrier start = new CyclicBarrier(rivals);
            List<BackgroundCall<Boolean>> calls = new ArrayList<>();
            for (int i = 0; i < rivals; i++) {
                Lock lock = fixture.locks().createLock(resource, LONG_TTL);
                calls.add(fixture.start(() -> {
                    start.await(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
                    return lock.tryAcquire();
                }));
            }

            int winners = 0;
            for (BackgroundCall<Boolean> call : calls) {
                winners += call.result() ? 1 : 0;
            }

            if (fixture.store() instanceof CombinedStore) {
                // All are refused if what one of them has at a member is given back later than the others ask again.
                assertThat(winners).isLessThanOrEqualTo(1);
            } else {
                assertThat(winners).isEqualTo(1);
            }
            if (winners == 0) {
                Lock next = fixture.locks().createLock(resource, LONG_TTL);
                Awaitility.await("nothing to be left").atMost(TimeLimits.LIMIT).until(next::tryAcquire);
            }
        }
    }

    @Test
    @Tag("slow")
    default void givenOneLock_whenItsThreadsAcquireAndReleaseAtOnce_thenItEndsFree(Fixture fixture) throws Exception {
        Lock shared = fixture.lock();
        List<BackgroundCall<Boolean>> calls = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            calls.add(fixture.start(() -> {
                for (int hold = 0; hold < holdsPerThread(); hold++) {
                    if (shared.tryAcquire()) {
                        shared.release();
                    }
                }
                return true;
            }));
        }
        for (BackgroundCall<Boolean> call : calls) {
            assertThat(call.result()).isTrue();
        }

        shared.release();

        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenThreadsAreInterruptedAtRandom_whenTheyAreDone_thenNothingIsLostOrLeft(Fixture fixture)
            throws Exception {
        Unguarded counter = new Unguarded();
        AtomicInteger holds = new AtomicInteger();
        List<BackgroundCall<Integer>> calls = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            calls.add(fixture.start(() -> {
                int interrupts = 0;
                long end = System.nanoTime() + TimeLimits.LIMIT.toNanos();
                // On a busy machine all may be done before whoever interrupts them has begun.
                for (int n = 0; n < holdsPerThread() || (interrupts == 0 && end - System.nanoTime() > 0); n++) {
                    Lock lock = fixture.lock();
                    try {
                        lock.acquire();
                        holds.incrementAndGet();
                        counter.increment(lock.fencingToken());
                        assertThat(lock.release()).isTrue();
                    } catch (InterruptedException e) {
                        interrupts++;
                    }
                }
                return interrupts;
            }));
        }
        while (!calls.stream().allMatch(BackgroundCall::isDone)) {
            calls.forEach(BackgroundCall::interrupt);
            LockSupport.parkNanos(200_000);
        }

        int interrupts = 0;
        for (BackgroundCall<Integer> call : calls) {
            interrupts += call.result();
        }

        assertThat(interrupts).isPositive();
        assertThat(counter.number).isEqualTo(holds.get());
        assertGrow(counter.fencingTokens);
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    private static void assertGrow(List<OptionalLong> fencingTokens) {
        long[] numbers = fencingTokens.stream()
                .filter(OptionalLong::isPresent)
                .mapToLong(OptionalLong::getAsLong)
                .toArray();
        for (int i = 1; i < numbers.length; i++) {
            assertThat(numbers[i]).as("fencing token of hold " + i).isGreaterThan(numbers[i - 1]);
        }
    }
}
