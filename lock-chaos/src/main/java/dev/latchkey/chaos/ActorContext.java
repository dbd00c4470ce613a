package dev.latchkey.chaos;

import dev.latchkey.Capability;
import dev.latchkey.Lock;
import dev.latchkey.LockBuilder;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

/** What the parts of one {@link Actor} share: its name, its random numbers, and where it writes down what it does. */
final class ActorContext {

    /** Beyond what it was to wait at most. A store may take 30 s for a connection on a machine with much else to do. */
    private static final Duration LONGEST_OVERRUN = Duration.ofSeconds(40);

    private final String name;
    private final Workload workload;
    private final SplittableRandom random;
    private final EventLog log;
    private final AtomicLong operations;
    private long holds;

    /**
     * Makes one.
     *
     * @param name of the actor, which its holds begin with
     * @param workload what it does
     * @param log where it writes
     * @param operations counts the calls of a Lock that ask the store
     */
    ActorContext(String name, Workload workload, EventLog log, AtomicLong operations) {
        this.name = name;
        this.workload = workload;
        this.random = new SplittableRandom(name.hashCode());
        this.log = log;
        this.operations = operations;
    }

    String name() {
        return name;
    }

    Workload workload() {
        return workload;
    }

    SplittableRandom random() {
        return random;
    }

    EventLog log() {
        return log;
    }

    /** A name for the next hold. */
    String nextHold() {
        return name + "#" + holds++;
    }

    /** Begins a Lock, a sticky one at times, unless the order of arrival is judged in its seat. */
    LockBuilder lock(LockFactory locks, String resource, Workload.Seat seat) {
        LockBuilder builder = locks.lock(resource);
        boolean isSticky = !seat.isPlain() && locks.supports(Capability.STICKY) && workload.isSticky(random);
        return isSticky ? builder.sticky(workload.kept(random)) : builder;
    }

    /** The store is about to be asked. */
    void asks() {
        operations.incrementAndGet();
    }

    /**
     * Asks for a hold, in the way for those who do not wait if that is so. What waits for too long is written down.
     *
     * @param maxWait zero for not at all
     * @return whether it was granted
     */
    boolean request(Lock lock, LockMode mode, Duration maxWait) throws InterruptedException {
        asks();
        long asked = System.nanoTime();
        try {
            if (maxWait.isZero()) {
                return mode == LockMode.SHARED ? lock.tryAcquireShared() : lock.tryAcquire();
            }
            return mode == LockMode.SHARED ? lock.tryAcquireShared(maxWait) : lock.tryAcquire(maxWait);
        } finally {
            Duration overrun = Duration.ofNanos(System.nanoTime() - asked).minus(maxWait);
            if (overrun.compareTo(LONGEST_OVERRUN) > 0) {
                log.violated(Rule.WAITS, name + " waited " + overrun + " longer than " + maxWait);
            }
        }
    }

    /** An interrupt is part of some workloads; of the others it is not. */
    void accept(InterruptedException interrupt) throws InterruptedException {
        if (!workload.isInterrupted()) {
            throw interrupt;
        }
    }
}
