package dev.latchkey.spring;

import dev.latchkey.LockBuilder;
import dev.latchkey.LockMode;
import java.time.Duration;
import java.util.Optional;

/**
 * How a lock is taken and kept.
 *
 * @param maxWait empty for as long as it takes
 * @param minHold zero for not at all
 * @param maxHold empty for never
 */
record LockSettings(
        LockMode mode,
        IfHeld ifHeld,
        Optional<Duration> maxWait,
        Duration ttl,
        Duration minHold,
        Optional<Duration> maxHold) {

    static LockSettings waiting(Duration ttl) {
        return new LockSettings(
                LockMode.EXCLUSIVE, IfHeld.WAIT, Optional.empty(), ttl, Duration.ZERO, Optional.empty());
    }

    LockSettings skipping() {
        return new LockSettings(mode, IfHeld.SKIP, Optional.of(Duration.ZERO), ttl, minHold, maxHold);
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
