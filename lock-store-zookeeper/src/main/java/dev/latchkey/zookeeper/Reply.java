package dev.latchkey.zookeeper;

import java.util.Objects;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * The result of a request.
 *
 * @param code the answer of the servers, or why there is none
 * @param orNull the value if the code is {@link Code#OK}
 */
record Reply<T>(Code code, @Nullable T orNull) {

    static <T> Reply<T> of(int code, @Nullable T value) {
        return new Reply<>(Code.get(code), value);
    }

    /** No answer in time. */
    static <T> Reply<T> none() {
        return new Reply<>(Code.OPERATIONTIMEOUT, null);
    }

    T value() {
        return Objects.requireNonNull(orNull, "value");
    }

    boolean isOk() {
        return code == Code.OK;
    }

    boolean is(Code other) {
        return code == other;
    }

    /** Returns whether it is unknown if the request took effect. */
    boolean isLost() {
        return switch (code) {
            case CONNECTIONLOSS, OPERATIONTIMEOUT, REQUESTTIMEOUT, SESSIONMOVED -> true;
            default -> false;
        };
    }

    /** For a write: returns whether a quorum has committed it, or its refusal. */
    boolean isCommitted() {
        return switch (code) {
            case OK, NONODE, NODEEXISTS, NOTEMPTY -> true;
            default -> false;
        };
    }

    /** Returns whether the session has ended, or was never accepted. */
    boolean isSessionEnd() {
        return code == Code.SESSIONEXPIRED || code == Code.AUTHFAILED;
    }
}
