package dev.latchkey.zookeeper;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The waiters that follow one node. */
final class NodeListeners {

    private final Set<WaitRound> all = ConcurrentHashMap.newKeySet();
    private volatile @Nullable WaitSignal last;

    void add(WaitRound follower) {
        all.add(follower);
        WaitSignal signal = last;
        if (signal != null) {
            follower.tell(signal);
        }
    }

    void remove(WaitRound follower) {
        all.remove(follower);
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    void tell(WaitSignal signal) {
        all.forEach(follower -> follower.tell(signal));
    }

    /** Tells the last signal: whoever follows later is told at once. */
    void tellLast(WaitSignal signal) {
        last = signal;
        tell(signal);
    }
}
