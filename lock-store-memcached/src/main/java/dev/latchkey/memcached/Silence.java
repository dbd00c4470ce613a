package dev.latchkey.memcached;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** For how long calls have had no answer. Thread-safe: two that come at once may both be right. */
final class Silence {

    private static final Duration SHORTEST = Duration.ofSeconds(5);

    private final Duration timeout;
    private final long longNanos;

    /** Since when the first call that was not answered in time was waited for; null if an answer has come since. */
    private volatile @Nullable Long sinceNanos;

    /** Nothing was asked yet. */
    Silence(Duration timeout) {
        this.timeout = timeout;
        this.longNanos = Math.max(SHORTEST.toNanos(), 2 * timeout.toNanos());
    }

    /** An answer has come, or there is a new client to ask with. */
    void end() {
        if (sinceNanos != null) {
            sinceNanos = null;
        }
    }

    /** A call was not answered in time. */
    void unanswered() {
        if (sinceNanos == null) {
            sinceNanos = System.nanoTime() - timeout.toNanos();
        }
    }

    /** Whether more than a slow server is to be feared. */
    boolean isLong() {
        Long since = sinceNanos;
        return since != null && System.nanoTime() - since >= longNanos;
    }
}
