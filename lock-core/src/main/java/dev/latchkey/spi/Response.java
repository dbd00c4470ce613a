package dev.latchkey.spi;

import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.OptionalLong;

/** The answer of a store to a {@link Request}. A failure of the store is not an answer: it is thrown. */
public sealed interface Response {

    /**
     * The key holds the resource as requested.
     *
     * @param mode the mode of the hold
     * @param fencingToken the fencing token of this exclusive hold: greater than that of every earlier one, and unchanged
     *     by re-acquire and refresh. Empty for a shared hold, and if the backend cannot provide a reliable token
     * @param lease the limits of the hold
     */
    record Granted(LockMode mode, OptionalLong fencingToken, Lease lease) implements Response {}

    /**
     * Another key holds the resource. What this key held before has not changed.
     *
     * @param retryAfter after which time the conflict is expected to end if nobody releases sooner, for example the rest of
     *     the holder's lease; zero for no hint. It only shortens the pause of a waiter
     * @param isRecalled whether the holder was asked a moment ago to give up a hold that it may only keep: it is worth a short
     *     wait. False for an ordinary hold, and if the holder has had the time to answer
     */
    record Conflicted(Duration retryAfter, boolean isRecalled) implements Response {

        /** A conflict about whose end nothing is known. */
        public static final Conflicted NO_HINT = new Conflicted(Duration.ZERO);

        /**
         * Creates a conflict with an ordinary hold.
         *
         * @param retryAfter after which time the conflict is expected to end if nobody releases sooner; zero for no hint
         */
        public Conflicted(Duration retryAfter) {
            this(retryAfter, false);
        }
    }

    /**
     * A wait would be a deadlock, because another reader already waits for promotion. What this key held before has not
     * changed.
     */
    record Refused() implements Response {}

    /**
     * The key no longer holds what {@link dev.latchkey.Key#held()} claims, and nothing was granted in its place: a
     * promotion or renewal must not hide that another key may have held the resource in between.
     *
     * @param reason the reason, as far as the store can tell
     */
    record Lost(LossReason reason) implements Response {}
}
