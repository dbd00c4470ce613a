package dev.latchkey.redis;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What may happen to one who waits. */
sealed interface WaiterEvent {

    /**
     * The server has answered, or failed to.
     *
     * @param question what it was asked
     * @param reply null if it failed
     * @param failure null if it answered
     */
    record Answered(
            QueueRequest question,
            @Nullable List<Long> reply,
            @Nullable Throwable failure) implements WaiterEvent {}

    /** How messages arrive from now on, as was asked for; or that they do not. */
    record Listening(NotificationChannel.GrantMessage push) implements WaiterEvent {}

    /** The server has granted it. */
    record Granted(GrantMessage.Grant grant) implements WaiterEvent {}

    /** Something may have changed, or been missed. */
    record AskAgain() implements WaiterEvent {}

    /** The caller no longer wants it. */
    record Withdrawn() implements WaiterEvent {}

    /** The store is closed. */
    record Closed() implements WaiterEvent {}
}
