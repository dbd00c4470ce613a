package dev.latchkey.zookeeper;

import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** What the client says of a request, and what that says of the session. */
final class Replies {

    private final LongConsumer proof;
    private final Runnable end;

    /**
     * Begins.
     *
     * @param proof told when a request was sent that a quorum has carried out: the session lived then
     * @param end told when the session has ended
     */
    Replies(LongConsumer proof, Runnable end) {
        this.proof = proof;
        this.end = end;
    }

    /** Of a request that changes something, and so needs a quorum, also to be refused for what is there or is not. */
    <T> Reply<T> written(int code, long sentNanos, @Nullable T value) {
        Reply<T> answer = read(code, value);
        if (answer.isCommitted()) {
            proof.accept(sentNanos);
        }
        return answer;
    }

    /** Of a request that any server answers by itself. */
    <T> Reply<T> read(int code, @Nullable T value) {
        Reply<T> answer = Reply.of(code, value);
        if (answer.isSessionEnd()) {
            end.run();
        }
        return answer;
    }
}
