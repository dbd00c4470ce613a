package dev.latchkey.sticky;

import java.time.Duration;

/**
 * Whether it pays to keep a resource, by what came of it before; guarded by its line. One that is recalled soon after each
 * grant goes back and forth between processes: it is not kept for a while, and for longer each time.
 */
final class RecallHistory {

    private static final long SOON_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long LONGEST_NANOS = Duration.ofSeconds(30).toNanos();

    private long pauseNanos;
    private long pausedAt;

    /** Notes that a hold was recalled. */
    void recalled(long grantedAt, long now) {
        boolean isSoon = now - grantedAt < SOON_NANOS;
        pauseNanos = isSoon ? Math.min(Math.max(2 * pauseNanos, SOON_NANOS), LONGEST_NANOS) : 0;
        pausedAt = now;
    }

    /** Whether a hold that nobody here waits for is to be kept. */
    boolean keeps(long now) {
        return pauseNanos == 0 || now - pausedAt >= pauseNanos;
    }

    /** Whether it makes no difference any more. */
    boolean isForgettable(long now) {
        return pauseNanos == 0 || now - pausedAt >= pauseNanos + LONGEST_NANOS;
    }
}
