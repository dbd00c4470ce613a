package dev.latchkey;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** Everything that waits or holds, so that the factory's close() finds it. Thread-safe. */
final class Active {

    private final ConcurrentMap<Ownership, Ownership> all = new ConcurrentHashMap<>();

    /** Adds one that is not idle any more. */
    void add(Ownership one) {
        // Not putIfAbsent, which may find what removeIfIdle is about to remove.
        all.put(one, one);
    }

    void remove(Ownership one) {
        all.remove(one);
    }

    /** Removes one whose hold has ended, unless it waits, or holds something again. */
    void removeIfIdle(Ownership one) {
        if (one.isIdle()) {
            all.computeIfPresent(one, (same, present) -> same.isIdle() ? null : present);
        }
    }

    void endAll() {
        all.keySet().forEach(Ownership::end);
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

}
