package dev.latchkey;

import org.jspecify.annotations.Nullable;

/**
 * What a request to the store is based on.
 *
 * @param key with what it claims to hold, as the store is told
 * @param watch of the hold the request renews or changes; null when free or adopted
 */
record Claim(Key key, @Nullable Watch watch, boolean adopted, long revision) {

    /** Nothing was held before: whatever the request takes may be given back. */
    boolean isFresh() {
        return watch == null && !adopted;
    }
}
