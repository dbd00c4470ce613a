package dev.latchkey.leader;

import dev.latchkey.Key;
import java.time.Duration;

/**
 * What the user has chosen.
 *
 * @param name of the election, which is the resource of its lock
 * @param ttl the lease of the leader
 * @param stopTime how long the callback may take to return when its term has ended
 * @param backoff how long to wait before standing again
 * @param leader the callback
 */
record ElectionSettings(String name, Duration ttl, Duration stopTime, Backoff backoff, Leader leader) {

    /** The name on one line, and not too long. */
    String shownName() {
        String key = Key.of(name).toString();
        return key.substring("Key[".length(), key.length() - 1);
    }
}
