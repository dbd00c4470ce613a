package dev.latchkey.redis;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What may happen to one who waits. */
sealed interface Signal {

    /**
     * The server has answered, or failed to.
     *
     * @param asked the number of the request
     * @param reply null if it failed
     * @param failure null if it answered
     */
    record Answered(
            int asked, @Nullable List<Long> reply, @Nullable Throwable failure) implements Signal {}

    /** The server has granted it. */
    record Granted(Push.Grant grant) implements Signal {}

    /** Something may have changed, or been missed. */
    record AskAgain() implements Signal {}

    /** The caller no longer wants it. */
    record Withdrawn() implements Signal {}

    /** The store is closed. */
    record Closed() implements Signal {}
}
