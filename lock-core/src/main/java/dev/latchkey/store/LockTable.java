package dev.latchkey.store;

import dev.latchkey.LockStorageException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The rooms of one stripe, which are there as long as anybody holds or waits in them; guarded by the stripe. */
final class LockTable {

    private static final int SWEEP_FROM = 64;

    private final Map<String, LockEntry> byResource = new HashMap<>();
    private final FencingCounter fencingTokens;
    private final Recalls recalls;
    private final long retentionNanos;
    private int sweepAt = SWEEP_FROM;
    private boolean closed;

    LockTable(FencingCounter fencingTokens, Recalls recalls, long retentionNanos) {
        this.fencingTokens = fencingTokens;
        this.recalls = recalls;
        this.retentionNanos = retentionNanos;
    }

    void checkOpen(String resource) {
        if (closed) {
            throw new LockStorageException(resource, "the in-memory store was closed", null);
        }
    }

    @Nullable LockEntry get(String resource) {
        return byResource.get(resource);
    }

    /** The room of a resource, made if there was none; whoever leaves it calls {@link #removeIfEmpty}. */
    LockEntry enter(String resource) {
        sweepIfGrown();
        return byResource.computeIfAbsent(resource, name -> new LockEntry(fencingTokens, recalls));
    }

    void removeIfEmpty(String resource, LockEntry room) {
        if (room.isEmpty()) {
            byResource.remove(resource, room);
        }
    }

    /** Adds the names of what is held, if they start with the prefix and come after a name. */
    void addHeld(String prefix, Optional<String> after, long now, Collection<String> names) {
        byResource.forEach((resource, room) -> {
            boolean isAsked = resource.startsWith(prefix)
                    && after.map(last -> resource.compareTo(last) > 0).orElse(true);
            if (isAsked && room.isHeld(now)) {
                names.add(resource);
            }
        });
    }

    int size() {
        return byResource.size();
    }

    void close() {
        closed = true;
        byResource.values().forEach(LockEntry::wakeAll);
        byResource.clear();
    }

    /** Leases that nobody ever releases must not fill the memory: each time the rooms have doubled, the old ones go. */
    private void sweepIfGrown() {
        if (byResource.size() >= sweepAt) {
            long then = System.nanoTime() - retentionNanos;
            byResource.values().removeIf(room -> room.wasOverAt(then));
            sweepAt = Math.max(SWEEP_FROM, 2 * byResource.size());
        }
    }
}
