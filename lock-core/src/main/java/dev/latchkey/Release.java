package dev.latchkey;

import org.jspecify.annotations.Nullable;

/**
 * How a hold was given up.
 *
 * @param reason why it had been lost; null if it had not
 */
record Release(Kind kind, @Nullable LossReason reason) {

    enum Kind {
        NOTHING_HELD,
        WAS_OURS,
        WAS_LOST,
        WAS_LOST_AND_TOLD
    }

    static final Release NOTHING_HELD = new Release(Kind.NOTHING_HELD, null);
    static final Release WAS_OURS = new Release(Kind.WAS_OURS, null);
}
