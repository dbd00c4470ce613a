package dev.latchkey.zookeeper;

import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Turns results of the client into replies, and draws conclusions about the session. */
final class Replies {

    private final LongConsumer proof;
    private final Runnable end;

    /**
     * Creates replies for one session.
     *
     * @param proof called with the time when a request was sent that a quorum has committed
     * @param end called when the session has ended
     */
    Replies(LongConsumer proof, Runnable end) {
        this.proof = proof;
        this.end = end;
    }

    /** For a request that writes, which needs a quorum, also to be refused because a node exists or is missing. */
    <T> Reply<T> written(int code, long sentNanos, @Nullable T value) {
        Reply<T> answer = read(code, value);
        if (answer.isCommitted()) {
            proof.accept(sentNanos);
        }
        return answer;
    }

    /** For a request that any server answers by itself. */
    <T> Reply<T> read(int code, @Nullable T value) {
        Reply<T> answer = Reply.of(code, value);
        if (answer.isSessionEnd()) {
            end.run();
        }
        return answer;
    }
}
