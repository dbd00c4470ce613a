package dev.latchkey.zookeeper;

import java.util.function.LongConsumer;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** What the client says of a request, and what that says of the session. */
final class Answers {

    private final LongConsumer proof;
    private final Runnable end;

    /**
     * Begins.
     *
     * @param proof told when a request was sent that only the leader can have answered: the session lived then
     * @param end told when the session has ended
     */
    Answers(LongConsumer proof, Runnable end) {
        this.proof = proof;
        this.end = end;
    }

    /** Of a request that goes to the leader. */
    <T> Answer<T> written(int code, long sentNanos, @Nullable T value) {
        Answer<T> answer = read(code, value);
        if (!answer.isLost() && !answer.isSessionEnd() && !answer.is(Code.NOAUTH)) {
            proof.accept(sentNanos);
        }
        return answer;
    }

    /** Of a request that any server answers by itself. */
    <T> Answer<T> read(int code, @Nullable T value) {
        Answer<T> answer = Answer.of(code, value);
        if (answer.isSessionEnd()) {
            end.run();
        }
        return answer;
    }
}
