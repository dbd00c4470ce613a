package dev.latchkey.reentrant;

import dev.latchkey.Lock;
import dev.latchkey.LockMode;
import java.util.EnumMap;
import java.util.Map;

/** What one thread holds of one resource: one hold in the store, and how often it was acquired here. Of this thread alone. */
final class ThreadHold {

    private final Lock lock;
    private final Map<LockMode, Integer> counts = new EnumMap<>(LockMode.class);

    ThreadHold(Lock lock) {
        this.lock = lock;
    }

    Lock lock() {
        return lock;
    }

    int count(LockMode mode) {
        return counts.getOrDefault(mode, 0);
    }

    /** Whether what is held includes a mode: an exclusive hold includes a shared one. */
    boolean covers(LockMode mode) {
        return mode == LockMode.SHARED || count(LockMode.EXCLUSIVE) > 0;
    }

    boolean isEmpty() {
        return counts.isEmpty();
    }

    void add(LockMode mode) {
        counts.merge(mode, 1, Math::addExact);
    }

    /** One less, of those that there are. */
    void subtract(LockMode mode) {
        counts.computeIfPresent(mode, (any, count) -> count == 1 ? null : count - 1);
    }
}
