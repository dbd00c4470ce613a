package dev.latchkey;

import org.jspecify.annotations.Nullable;

/**
 * How a hold was given up.
 *
 * @param reason why it had been lost; null if it had not
 */
record ReleaseResult(Kind kind, @Nullable LossReason reason) {

    enum Kind {
        NOTHING_HELD,
        WAS_OURS,
        WAS_LOST,
        WAS_LOST_AND_TOLD
    }

    static final ReleaseResult NOTHING_HELD = new ReleaseResult(Kind.NOTHING_HELD, null);
    static final ReleaseResult WAS_OURS = new ReleaseResult(Kind.WAS_OURS, null);
}
