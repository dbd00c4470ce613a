package dev.latchkey;

import org.jspecify.annotations.Nullable;

/**
 * What a request to the store is based on.
 *
 * @param key with what it claims to hold, as the store is told
 * @param watch of the hold the request renews or changes; null when free or adopted
 * @param asked when the lease that is asked for what is held will be over; null if none is
 */
record Claim(
        Key key,
        @Nullable Watch watch,
        boolean adopted,
        long revision,
        @Nullable Deadline asked) {

    /** Nothing was held before: whatever the request takes may be given back. */
    boolean isFresh() {
        return watch == null && !adopted;
    }
}
