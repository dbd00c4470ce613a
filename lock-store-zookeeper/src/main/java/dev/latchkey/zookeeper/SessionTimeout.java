package dev.latchkey.zookeeper;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.ZooKeeper;

/**
 * The timeout of a session: the least that any server has granted to it. Each server has limits of its own. A server that
 * grants more on a reconnect may be a deposed leader, while the others still use the earlier timeout. Thread-safe.
 */
final class SessionTimeout {

    /** For a client that has not been connected yet, or whose session has ended: it knows no timeout. */
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

    /** Called often, so it writes only if the timeout is less. */
    private int least(int granted) {
        int least = leastMillis.get();
        return granted < least ? leastMillis.accumulateAndGet(granted, Math::min) : least;
    }
}
