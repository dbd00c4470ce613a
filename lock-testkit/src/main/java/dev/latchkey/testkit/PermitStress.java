package dev.latchkey.testkit;

import dev.latchkey.LockConflictedException;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.semaphore.Permit;
import dev.latchkey.semaphore.Semaphore;
import dev.latchkey.semaphore.SemaphoreBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that acquire and release permits of one semaphore until enough was done, while a test makes things go wrong: with
 * short leases, different counts, two opinions of how many permits there are, permits that are left to their lease, and renewed
 * ones. What each believed is kept as a {@link PermitHistory}. Thread-safe.
 */
public final class PermitStress {

    /** How many permits there are; some of the threads know one less. */
    public static final int PERMITS = 5;

    private static final int THREADS = 8;

    /** What becomes of permits. */
    private enum Fate {
        RENEWED,
        LEFT,
        RELEASED;

        static Fate of(int number) {
            return number == 0 ? LEFT : number < 20 ? RENEWED : RELEASED;
        }
    }

    private final String semaphore;
    private final List<LockFactory> factories;
    private final int operations;
    private final Duration ttl;
    private final long seed;
    private final PermitHistory history = new PermitHistory();
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();

    /**
     * Prepares a run.
     *
     * @param semaphore its name
     * @param factories which the threads use in turn: the first call the first one
     * @param operations how many acquires to try
     * @param ttl the shortest TTL of permits: others have one of up to three times as long
     * @param seed of what the threads choose
     */
    public PermitStress(String semaphore, List<LockFactory> factories, int operations, Duration ttl, long seed) {
        this.semaphore = semaphore;
        this.factories = List.copyOf(factories);
        this.operations = operations;
        this.ttl = ttl;
        this.seed = seed;
    }

    /**
     * Starts the threads.
     *
     * @return the calls, each of which ends when enough was done
     */
    public List<BackgroundCall<Integer>> start() {
        List<BackgroundCall<Integer>> calls = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
            int number = thread;
            calls.add(BackgroundCall.start(() -> work(number, new Random(seed + number))));
        }
        return calls;
    }

    /**
     * Returns what the threads believed.
     *
     * @return complete when all calls have ended
     */
    public PermitHistory history() {
        return history;
    }

    /**
     * Returns how many calls the store has failed.
     *
     * @return so far
     */
    public int failures() {
        return failed.get();
    }

    private int work(int thread, Random random) throws InterruptedException {
        LockFactory locks = factories.get(thread % factories.size());
        int limit = thread % 4 == 3 ? PERMITS - 1 : PERMITS;
        int acquired = 0;
        while (begun.incrementAndGet() <= operations) {
            int count = 1 + random.nextInt(limit);
            // Now and then, so that permits are acquired without a wait as well.
            LockSupport.parkNanos(random.nextInt(4) == 0 ? random.nextInt(20_000_000) : 0);
            Duration lease = ttl.plus(Duration.ofMillis(random.nextInt((int) (2 * ttl.toMillis()))));
            Fate fate = Fate.of(random.nextInt(200));
            SemaphoreBuilder builder = locks.semaphore(semaphore, limit).ttl(lease);
            Semaphore used = (fate == Fate.RENEWED ? builder.autoRefresh() : builder).create();
            try {
                Optional<Permit> permit = random.nextInt(4) == 0
                        ? used.tryAcquire(count)
                        : used.tryAcquire(count, Duration.ofMillis(random.nextInt(1_000)));
                if (permit.isPresent()) {
                    acquired++;
                    hold(permit.get(), limit, fate, random);
                }
            } catch (LockStorageException | LockConflictedException e) {
                failed.incrementAndGet();
            }
        }
        return acquired;
    }

    private void hold(Permit permit, int limit, Fate fate, Random random) {
        long from = System.nanoTime();
        long believedUntil = from + permit.remainingLifetime().toNanos();
        long pause = random.nextInt(100) == 0 ? ttl.toNanos() : random.nextInt(2_000_000);
        LockSupport.parkNanos(pause);
        long now = System.nanoTime();
        long rest = permit.remainingLifetime().toNanos();
        boolean isLeft = fate == Fate.LEFT;
        long ended = rest > 0 ? now : Math.min(now, believedUntil);
        history.add(new PermitHistory.Belief(permit.count(), limit, from, isLeft && rest > 0 ? now + rest : ended));
        if (!isLeft) {
            release(permit);
        }
    }

    private void release(Permit permit) {
        try {
            boolean unused = permit.release();
        } catch (LockStorageException | LockLostException e) {
            failed.incrementAndGet();
        }
    }
}
