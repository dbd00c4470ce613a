package dev.latchkey.spring;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the current thread works under, the innermost last. */
final class HeldLocks {

    private static final ThreadLocal<@Nullable List<HeldLock>> OF_THREAD = new ThreadLocal<>();

    private HeldLocks() {}

    static List<HeldLock> all() {
        List<HeldLock> held = OF_THREAD.get();
        if (held == null) {
            return List.of();
        }
        // Another thread may have released it, as one that ends a transaction whose time is over.
        held.removeIf(HeldLock::isOver);
        return held;
    }

    static @Nullable HeldLock find(Acquirer acquirer, String resource) {
        for (HeldLock held : all()) {
            if (held.is(acquirer, resource)) {
                return held;
            }
        }
        return null;
    }

    static @Nullable HeldLock innermost() {
        List<HeldLock> held = all();
        return held.isEmpty() ? null : held.get(held.size() - 1);
    }

    static void add(HeldLock one) {
        List<HeldLock> held = OF_THREAD.get();
        if (held == null) {
            held = new ArrayList<>(2);
            OF_THREAD.set(held);
        }
        held.add(one);
    }

    static void remove(HeldLock one) {
        List<HeldLock> held = OF_THREAD.get();
        if (held != null) {
            held.remove(one);
            if (held.isEmpty()) {
                OF_THREAD.remove();
            }
        }
    }
}
