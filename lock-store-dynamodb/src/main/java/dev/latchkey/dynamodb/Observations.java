package dev.latchkey.dynamodb;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What this store has seen of the holds of others and of its own. It forgets those that have not been looked at for longest if
 * they are too many: to whoever asks next, they are then new again, and last at most one lease longer. Thread-safe.
 */
final class Observations {

    private static final int MOST = 10_000;

    private final Map<String, Observation> seen = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Observation> eldest) {
            return size() > MOST;
        }
    };

    synchronized Optional<Observation> of(String item) {
        return Optional.ofNullable(seen.get(item));
    }

    /** Notes a version that was read. One that has been seen before was seen since then. */
    synchronized Observation see(String item, LockItem read) {
        Observation known = seen.get(item);
        if (known != null && known.version().equals(read.version())) {
            return known;
        }
        Observation fresh = Observation.ofOther(read.version(), read.lease());
        seen.put(item, fresh);
        return fresh;
    }

    /** Notes a version that this store wrote. */
    synchronized void wrote(String item, Observation own) {
        seen.put(item, own);
    }

    synchronized void forget(String item) {
        seen.remove(item);
    }
}
