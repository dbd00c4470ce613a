package dev.latchkey;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Everything that waits or holds, so that the factory's close() finds it. Thread-safe. */
final class ActiveLocks {

    private static final Logger log = LoggerFactory.getLogger(LockFactory.class);
    private static final int SWEEP_FROM = 1_024;

    private final ConcurrentMap<LockEngine, LockEngine> all = new ConcurrentHashMap<>();
    private final AtomicInteger sweepAt = new AtomicInteger(SWEEP_FROM);

    /** Adds one that is not idle any more. */
    void add(LockEngine one) {
        // Not putIfAbsent, which may find what removeIfIdle is about to remove.
        if (all.put(one, one) == null) {
            sweepIfGrown();
        }
    }

    void remove(LockEngine one) {
        all.remove(one);
    }

    /** Removes one whose hold has ended, unless it waits, or holds something again. */
    void removeIfIdle(LockEngine one) {
        if (one.isIdle()) {
            all.computeIfPresent(one, (same, present) -> same.isIdle() ? null : present);
        }
    }

    void endAll() {
        all.keySet().forEach(ActiveLocks::end);
    }

    /** Whatever is wrong with one hold, or with the store, the others are ended all the same. */
    private static void end(LockEngine one) {
        try {
            one.end();
        } catch (Throwable e) {
            log.error(
                    "lock.close-failed resource={}",
                    LockException.shown(one.state().resource()),
                    e);
        }
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    int size() {
        return all.size();
    }

    /** Leases that run out without a release must not fill the memory: each time these have doubled, they go. */
    private void sweepIfGrown() {
        int limit = sweepAt.get();
        if (all.size() >= limit && sweepAt.compareAndSet(limit, Integer.MAX_VALUE)) {
            all.keySet().forEach(this::removeIfIdle);
            sweepAt.set(Math.max(SWEEP_FROM, 2 * all.size()));
        }
    }
}
