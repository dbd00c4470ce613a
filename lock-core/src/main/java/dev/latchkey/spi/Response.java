package dev.latchkey.spi;

import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.OptionalLong;

/** A store's answer to a {@link Request}. A failure of the store is none of these: it is thrown. */
public sealed interface Response {

    /**
     * The key holds the resource as asked.
     *
     * @param mode how it is held
     * @param fencingToken the number of this exclusive hold, greater than that of any before it and kept by re-acquire
     *     and refresh; empty while shared, and where the backend cannot mint a sound one
     * @param lease what bounds the hold
     */
    record Granted(LockMode mode, OptionalLong fencingToken, Lease lease) implements Response {}

    /**
     * Somebody else holds it. What the key held before is as it was.
     *
     * @param retryAfter when asking again may first succeed, for instance when the holder's lease ends; zero: no hint
     */
    record Conflicted(Duration retryAfter) implements Response {

        /** A conflict about whose end nothing is known. */
        public static final Conflicted NO_HINT = new Conflicted(Duration.ZERO);
    }

    /** Waiting could only deadlock: another reader already waits to promote. What the key held before is as it was. */
    record Refused() implements Response {}

    /**
     * What {@link dev.latchkey.Key#held()} claims is no longer true, and nothing was granted in its place: a promotion or
     * renewal must not hide that another holder may have come and gone.
     *
     * @param reason why, as far as the store can tell
     */
    record Lost(LossReason reason) implements Response {}
}
