package dev.latchkey.zookeeper;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.ZooKeeper;

/**
 * After how long without news the servers end a session: the least that any of them has granted to it. Each server has
 * limits of its own. One that grants more on a reconnect may be a deposed leader, while the others count by what was
 * granted before. Thread-safe.
 */
final class SessionTimeout {

    /** Of a client without a connection so far, or whose session has ended: it knows none. */
    private static final int UNKNOWN_MILLIS = 100;

    private final ZooKeeper client;
    private final AtomicInteger leastMillis = new AtomicInteger(Integer.MAX_VALUE);

    SessionTimeout(ZooKeeper client) {
        this.client = client;
    }

    boolean isKnown() {
        return client.getSessionTimeout() > 0;
    }

    long nanos() {
        int granted = client.getSessionTimeout();
        int least = granted > 0 ? least(granted) : UNKNOWN_MILLIS;
        return TimeUnit.MILLISECONDS.toNanos(Math.max(least, UNKNOWN_MILLIS));
    }

    /** Holders ask often: nothing is written unless it is less. */
    private int least(int granted) {
        int least = leastMillis.get();
        return granted < least ? leastMillis.accumulateAndGet(granted, Math::min) : least;
    }
}
