package dev.latchkey;

import dev.latchkey.spi.LeaseChange;
import org.jspecify.annotations.Nullable;

/**
 * What a request to the store is based on, and what it gives up.
 *
 * @param key with what it claims to hold, as the store is told
 * @param watch of the hold the request renews or changes; null when free or adopted
 * @param change whether the request may end the lease sooner
 * @param latestEnd when the lease ends at the latest if the request is applied, however late; null if it ends no sooner
 * @param demotes whether the request gives up an exclusive hold for a shared one
 */
record Claim(
        Key key,
        @Nullable HoldTracker watch,
        boolean adopted,
        long revision,
        LeaseChange change,
        @Nullable Deadline latestEnd,
        boolean demotes) {

    /** Nothing was held before: whatever the request takes may be given back. */
    boolean isFresh() {
        return watch == null && !adopted;
    }

    boolean givesUp() {
        return latestEnd != null || demotes;
    }
}
