package dev.latchkey;

import java.time.Duration;

/** A moment on the monotonic clock. */
record Deadline(long nanoTime) {

    static Deadline in(Duration wait) {
        return new Deadline(System.nanoTime() + wait.toNanos());
    }

    /** When a lease that is asked for now will be over, less the drift margin. */
    static Deadline ofLease(Duration ttl) {
        return new Deadline(System.nanoTime() + Durations.lessDriftNanos(ttl));
    }

    Deadline before(Duration time) {
        return new Deadline(nanoTime - time.toNanos());
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
