package dev.latchkey;

import dev.latchkey.spi.Lease;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A moment on the monotonic clock. */
record Deadline(long nanoTime) {

    /** The shortest TTL of which the drift margin leaves something. */
    static final Duration SHORTEST_TTL = Duration.ofMillis(3);

    static Deadline in(Duration wait) {
        return new Deadline(System.nanoTime() + wait.toNanos());
    }

    /** When a lease that is asked for now will be over, less the drift margin. */
    static Deadline ofLease(Duration ttl) {
        return ofLease(System.nanoTime(), ttl);
    }

    /** What of a lease can be relied on when clocks do not run alike. */
    static Deadline ofLease(long sinceNanos, Duration ttl) {
        return new Deadline(Lease.reliableUntil(sinceNanos, ttl));
    }

    Deadline before(Duration time) {
        return new Deadline(nanoTime - time.toNanos());
    }

    boolean isBefore(@Nullable Deadline other) {
        return other != null && other.nanoTime - nanoTime > 0;
    }

    /** Whether it is so much earlier that it makes a difference. */
    boolean isWellBefore(@Nullable Deadline other) {
        return other != null && other.nanoTime - nanoTime > SHORTEST_TTL.toNanos();
    }

    long remainingNanos() {
        return nanoTime - System.nanoTime();
    }

    Duration remaining() {
        return Duration.ofNanos(Math.max(0, remainingNanos()));
    }

    boolean isOver() {
        return remainingNanos() <= 0;
    }
}
