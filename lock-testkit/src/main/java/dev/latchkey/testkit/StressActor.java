package dev.latchkey.testkit;

import dev.latchkey.Lock;
import dev.latchkey.LockException;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** One thread of a {@link StressWorker}: takes locks at random in every way the API has, and writes down what it believes. */
final class StressActor {

    private static final int SHORTEST_TTL = 100;
    private static final int LONGEST_TTL = 600;

    /** Of so many holds one has a shorter TTL, and is held until its lease is about to be over, or is over. */
    private static final int LINGERS_ONE_OF = 8;

    private static final int SHORTEST_LINGERING = 60;
    private static final int LONGEST_LINGERING = 150;
    private static final long AROUND_THE_END_NANOS = 30_000_000;

    /** A process begins cold, and its store may take 30 s for its first connection, as on a machine with much else to do. */
    private static final long OVERRUN = Duration.ofSeconds(40).toNanos();

    private final LockFactory locks;
    private final HistoryLog log;
    private final SplittableRandom random;
    private final String name;
    private final int resources;
    private final AtomicLong operations;
    private long holds;
    /** Whether what it holds now is held until its lease is about to be over. */
    private boolean lingers;

    StressActor(LockFactory locks, HistoryLog log, String name, int resources, AtomicLong operations) {
        this.locks = locks;
        this.log = log;
        this.random = new SplittableRandom(name.hashCode());
        this.name = name;
        this.resources = resources;
        this.operations = operations;
    }

    /** One life of one Lock. Failures of the store and losses are part of it; anything else is an anomaly. */
    void act() {
        lingers = random.nextInt(LINGERS_ONE_OF) == 0;
        Duration ttl = Duration.ofMillis(
                lingers
                        ? random.nextInt(SHORTEST_LINGERING, LONGEST_LINGERING)
                        : random.nextInt(SHORTEST_TTL, LONGEST_TTL));
        String resource = "stress-" + random.nextInt(resources);
        boolean renewed = random.nextInt(10) == 0;
        Lock lock = renewed ? locks.lock(resource).ttl(ttl).autoRefresh().create() : locks.createLock(resource, ttl);
        String owner = name + "." + holds;
        try {
            if (random.nextInt(100) < 30) {
                actShared(lock, owner, resource);
            } else if (acquired(lock, LockMode.EXCLUSIVE)) {
                hold(lock, owner, resource, LockMode.EXCLUSIVE);
            }
            letGo(lock);
        } catch (LockLostException | LockStorageException e) {
            // Faults have such effects. What was believed ends with the lease written down.
            letGoQuietly(lock);
        } catch (InterruptedException e) {
            letGoQuietly(lock);
        } catch (RuntimeException | Error e) {
            log.anomaly(name + " " + e + " at " + List.of(e.getStackTrace()));
        }
    }

    private void actShared(Lock lock, String owner, String resource) throws InterruptedException {
        if (!acquired(lock, LockMode.SHARED)) {
            return;
        }
        hold(lock, owner, resource, LockMode.SHARED);
        if (random.nextInt(3) == 0 && !lock.isExpired() && acquired(lock, LockMode.EXCLUSIVE)) {
            hold(lock, owner, resource, LockMode.EXCLUSIVE);
            if (random.nextBoolean() && !lock.isExpired() && acquired(lock, LockMode.SHARED)) {
                hold(lock, owner, resource, LockMode.SHARED);
            }
        }
    }

    private boolean acquired(Lock lock, LockMode mode) throws InterruptedException {
        operations.incrementAndGet();
        if (random.nextInt(4) == 0) {
            return mode == LockMode.SHARED ? lock.tryAcquireShared() : lock.tryAcquire();
        }
        Duration maxWait = Duration.ofMillis(random.nextInt(20, 3_000));
        long start = System.nanoTime();
        try {
            return mode == LockMode.SHARED ? lock.tryAcquireShared(maxWait) : lock.tryAcquire(maxWait);
        } finally {
            long overrun = System.nanoTime() - start - maxWait.toNanos();
            if (overrun > OVERRUN) {
                log.anomaly(name + " waited " + Duration.ofNanos(overrun) + " longer than " + maxWait);
            }
        }
    }

    /** Believes in the hold for a while, renews it perhaps, and no longer believes in it when this returns. */
    private void hold(Lock lock, String owner, String resource, LockMode mode) {
        long from = System.nanoTime();
        String hold = name + "#" + holds++;
        OptionalLong token = lock.fencingToken();
        log.held(hold, owner, resource, mode, token, from, from + remaining(lock));
        int steps = random.nextInt(4);
        for (int i = 0; i < steps; i++) {
            LockSupport.parkNanos(random.nextInt(random.nextInt(20) == 0 ? 400_000_000 : 4_000_000));
            goOn(lock, hold, token, random.nextInt(4) == 0);
        }
        if (lingers && !lock.isExpired()) {
            LockSupport.parkNanos(remaining(lock) + random.nextLong(-AROUND_THE_END_NANOS, AROUND_THE_END_NANOS));
            goOn(lock, hold, token, random.nextBoolean() && !lock.isExpired());
            LockSupport.parkNanos(random.nextLong(AROUND_THE_END_NANOS));
        }
        long before = System.nanoTime();
        if (!lock.isExpired()) {
            log.ended(hold, before);
        }
    }

    /** Renews it perhaps, and writes down until when it is believed in. */
    private void goOn(Lock lock, String hold, OptionalLong token, boolean renews) {
        if (renews) {
            operations.incrementAndGet();
            lock.refresh();
        }
        believe(lock, hold);
        OptionalLong seen = lock.fencingToken();
        if (!lock.isExpired() && !seen.equals(token)) {
            log.anomaly(name + " " + hold + " had token " + token + " and then " + seen);
        }
    }

    /** The time is read first: a freeze in between makes the belief shorter, never longer than it was. */
    private void believe(Lock lock, String hold) {
        long now = System.nanoTime();
        long remaining = remaining(lock);
        if (remaining > 0) {
            log.extended(hold, now + remaining);
        }
    }

    private static long remaining(Lock lock) {
        return lock.remainingLifetime().orElse(Duration.ZERO).toNanos();
    }

    private void letGo(Lock lock) {
        if (random.nextInt(40) == 0 && !lock.isExpired()) {
            leaveToItsTtl(lock);
            return;
        }
        operations.incrementAndGet();
        lock.release();
    }

    /** As a program does that is careless. */
    private static void leaveToItsTtl(Lock lock) {
        try {
            lock.transferKey();
        } catch (IllegalStateException e) {
            // Its time was over just then.
        }
    }

    private static void letGoQuietly(Lock lock) {
        try {
            lock.release();
        } catch (LockException e) {
            // Its TTL ends it.
        }
    }
}
