package dev.latchkey.sticky;

import dev.latchkey.spi.Request;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** The lines of a factory, by resource: each time they have doubled, those that are out of use go. */
final class StickyLines {

    private static final int SWEEP_FROM = 64;

    private final Map<String, StickyLine> byResource = new ConcurrentHashMap<>();
    private final AtomicInteger sweepAt = new AtomicInteger(SWEEP_FROM);
    private final ToLongFunction<Request> reservedTokens;

    /** @param reservedTokens how many fencing tokens the store reserves with a request */
    StickyLines(ToLongFunction<Request> reservedTokens) {
        this.reservedTokens = reservedTokens;
    }

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
        return byResource.computeIfAbsent(resource, name -> new StickyLine(reservedTokens));
    }

    /** A line was found to be forgotten. */
    void remove(String resource, StickyLine forgotten) {
        byResource.remove(resource, forgotten);
    }

    List<String> resources() {
        return List.copyOf(byResource.keySet());
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
