package dev.latchkey.zookeeper;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Those who wait for something to happen to one node. */
final class Followers {

    private final Set<Round> all = ConcurrentHashMap.newKeySet();
    private volatile @Nullable Signal last;

    void add(Round follower) {
        all.add(follower);
        Signal signal = last;
        if (signal != null) {
            follower.tell(signal);
        }
    }

    void remove(Round follower) {
        all.remove(follower);
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    void tell(Signal signal) {
        all.forEach(follower -> follower.tell(signal));
    }

    /** Nothing comes after this: whoever begins to follow later hears it at once. */
    void tellLast(Signal signal) {
        last = signal;
        tell(signal);
    }
}
