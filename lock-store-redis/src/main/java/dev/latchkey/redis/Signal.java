package dev.latchkey.redis;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What may happen to one who waits. */
sealed interface Signal {

    /**
     * The server has answered, or failed to.
     *
     * @param question what it was asked
     * @param reply null if it failed
     * @param failure null if it answered
     */
    record Answered(
            Question question,
            @Nullable List<Long> reply,
            @Nullable Throwable failure) implements Signal {}

    /** How messages arrive from now on, as was asked for; or that they do not. */
    record Listening(Inbox.Push push) implements Signal {}

    /** The server has granted it. */
    record Granted(Push.Grant grant) implements Signal {}

    /** Something may have changed, or been missed. */
    record AskAgain() implements Signal {}

    /** The caller no longer wants it. */
    record Withdrawn() implements Signal {}

    /** The store is closed. */
    record Closed() implements Signal {}
}
