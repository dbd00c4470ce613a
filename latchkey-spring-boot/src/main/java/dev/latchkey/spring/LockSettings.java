package dev.latchkey.spring;

import dev.latchkey.LockBuilder;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Permits;
import java.time.Duration;
import java.util.Optional;

/**
 * How a lock is taken and kept.
 *
 * @param maxWait empty for as long as it takes
 * @param minHold zero for not at all
 * @param maxHold empty for never
 * @param permits how many may run at the same time; 0 for a lock
 */
record LockSettings(
        LockMode mode,
        IfHeld ifHeld,
        Optional<Duration> maxWait,
        Duration ttl,
        Duration minHold,
        Optional<Duration> maxHold,
        int permits) {

    static LockSettings waiting(Duration ttl) {
        return new LockSettings(
                LockMode.EXCLUSIVE, IfHeld.WAIT, Optional.empty(), ttl, Duration.ZERO, Optional.empty(), 0);
    }

    LockSettings skipping() {
        return new LockSettings(mode, IfHeld.SKIP, Optional.of(Duration.ZERO), ttl, minHold, maxHold, permits);
    }

    /** Returns what is held for a key: the lock of that name, or one permit, which is another resource. */
    String resource(String name) {
        return permits == 0 ? name : new Permits(name, 1, permits).resource();
    }

    /** Returns a builder of a lock, or of one permit, with these settings. */
    LockBuilder builder(LockFactory locks, String resource) {
        return apply(
                permits == 0
                        ? locks.lock(resource)
                        : locks.permits(Permits.parse(resource).semaphore(), permits, 1));
    }

    LockBuilder apply(LockBuilder builder) {
        builder.ttl(ttl).autoRefresh();
        if (!minHold.isZero()) {
            builder.minHold(minHold);
        }
        maxHold.ifPresent(builder::maxHold);
        return builder;
    }
}
