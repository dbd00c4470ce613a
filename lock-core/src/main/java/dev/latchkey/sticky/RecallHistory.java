package dev.latchkey.sticky;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Whether it pays to keep a resource, by what came of it before; guarded by its line. One that is recalled soon after each
 * grant, and was hardly used again before it went, goes back and forth between processes: it is not kept for a while, and for
 * longer each time.
 */
final class RecallHistory {

    private static final long SOON_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long LONGEST_NANOS = Duration.ofSeconds(30).toNanos();

    /** What was recalled last and may still be used; null if that is taken into account. */
    private @Nullable KeptHold recalled;

    private long recalledAt;
    private long pauseNanos;

    /** Notes that a hold is recalled. Whether it paid is known when it has ended. */
    void recalled(KeptHold hold, long now) {
        learn();
        recalled = hold;
        recalledAt = now;
    }

    /** Whether a hold that nobody here waits for is to be kept. Asked of one that was not recalled, or before there is one. */
    boolean keeps(long now) {
        learn();
        return pauseNanos == 0 || now - recalledAt >= pauseNanos;
    }

    /** Whether it makes no difference any more. */
    boolean isForgettable(long now) {
        learn();
        return pauseNanos == 0 || now - recalledAt >= pauseNanos + LONGEST_NANOS;
    }

    private void learn() {
        if (recalled == null) {
            return;
        }
        boolean isWaste = recalledAt - recalled.grantedAt() < SOON_NANOS && !recalled.hasPaid();
        pauseNanos = isWaste ? Math.min(Math.max(2 * pauseNanos, SOON_NANOS), LONGEST_NANOS) : 0;
        recalled = null;
    }
}
