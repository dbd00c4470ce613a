package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;

/**
 * Keys that one member was asked to give something up of, without an answer: that request may come there at any later time, and
 * would end, or cut short, what the same key holds then. Thread-safe.
 */
final class UnansweredReleases {

    /** A member that hangs must not fill the memory. Whoever asks first takes another key, so that old ones are not used. */
    private static final int MOST = 65_536;

    private final Map<Key, Boolean> keys = Collections.synchronizedMap(new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Boolean> eldest) {
            return size() > MOST;
        }
    });

    boolean contains(Key key) {
        return keys.containsKey(key);
    }

    /** A request failed that gives something up; nothing is noted if it has no effect, and never will. */
    void failed(Key key, Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        boolean isUndone = cause instanceof IllegalArgumentException
                || (cause instanceof LockStorageException storage && storage.failure() != Failure.IN_DOUBT);
        if (!isUndone) {
            keys.put(key.claiming(Optional.empty()), true);
        }
    }
}
