package dev.latchkey.testkit;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Threads of several factories that acquire and release one resource, some of them sticky, and watch each other. */
final class StickyCycles {

    private final String resource;
    private final Duration length;
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicLong lastToken = new AtomicLong();
    private final List<String> violations = new CopyOnWriteArrayList<>();

    StickyCycles(String resource, Duration length) {
        this.resource = resource;
        this.length = length;
    }

    List<String> violations() {
        return violations;
    }

    /** Cycles until the time is over; every third thread with a plain Lock. Returns how often it held the lock. */
    int run(LockFactory factory, int number) throws InterruptedException {
        boolean isSticky = number % 3 != 2 || number < 3;
        var builder = factory.lock(resource).ttl(Fixture.LONG_TTL);
        Lock lock = (isSticky ? builder.sticky(StickyLocks.STICKY) : builder).create();
        long end = System.nanoTime() + length.toNanos();
        int held = 0;
        for (int attempt = 0; System.nanoTime() - end < 0 || held == 0; attempt++) {
            boolean waits = attempt % 10 != 9;
            if (waits ? lock.tryAcquire(TimeLimits.LIMIT) : lock.tryAcquire()) {
                held++;
                watch(lock);
                if (!lock.release()) {
                    violations.add("thread " + number + " was no holder when it released");
                }
            } else if (waits) {
                violations.add("thread " + number + " has waited in vain");
            }
        }
        return held;
    }

    private void watch(Lock lock) {
        if (inside.incrementAndGet() != 1) {
            violations.add("two are inside");
        }
        long token = lock.fencingToken().orElseThrow();
        long before = lastToken.getAndSet(token);
        if (token <= before) {
            violations.add("token " + token + " came after " + before);
        }
        inside.decrementAndGet();
    }
}
