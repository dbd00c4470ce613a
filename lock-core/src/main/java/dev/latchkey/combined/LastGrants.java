package dev.latchkey.combined;

import dev.latchkey.Key;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Through which combined store of this process a key was granted something last. What another one still knows of that hold
 * ends nothing at the members they share, for it was not told how the hold went on. Only for members of which some have no
 * leases: their holds do not leave the process.
 */
final class LastGrants {

    private static final ConcurrentMap<Key, Quorum> BY_KEY = new ConcurrentHashMap<>();

    private LastGrants() {}

    static void through(Quorum quorum, Key key) {
        BY_KEY.put(key, quorum);
    }

    static void ended(Quorum quorum, Key key) {
        BY_KEY.remove(key, quorum);
    }

    static void forget(Quorum quorum) {
        BY_KEY.values().removeIf(last -> last == quorum);
    }

    static boolean isThroughAnother(Quorum quorum, Key key) {
        Quorum last = BY_KEY.get(key);
        return last != null && last != quorum && last.sharesMembersWith(quorum);
    }
}
