package dev.latchkey.sticky;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The lines of a factory, by resource: each time they have doubled, those that are out of use go. */
final class StickyLines {

    private static final int SWEEP_FROM = 64;

    private final Map<String, StickyLine> byResource = new ConcurrentHashMap<>();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final AtomicInteger sweepAt = new AtomicInteger(SWEEP_FROM);

    @Nullable StickyLine get(String resource) {
        return byResource.get(resource);
    }

    /** The line of a resource; a new one if the last is forgotten. */
    StickyLine enter(String resource) {
        StickyLine line = byResource.get(resource);
        if (line != null) {
            return line;
        }
        sweepIfGrown();
        return byResource.computeIfAbsent(resource, name -> new StickyLine(closing));
    }

    /** A line was found to be forgotten. */
    void remove(String resource, StickyLine forgotten) {
        byResource.remove(resource, forgotten);
    }

    /** From now on nothing is kept that is released: also in a line that {@link #all} does not show yet. */
    void close() {
        closing.set(true);
    }

    List<StickyLine> all() {
        return List.copyOf(byResource.values());
    }

    private void sweepIfGrown() {
        int size = byResource.size();
        int limit = sweepAt.get();
        if (size >= limit && sweepAt.compareAndSet(limit, Integer.MAX_VALUE)) {
            byResource.values().removeIf(StickyLine::forget);
            sweepAt.set(Math.max(SWEEP_FROM, 2 * byResource.size()));
        }
    }
}
