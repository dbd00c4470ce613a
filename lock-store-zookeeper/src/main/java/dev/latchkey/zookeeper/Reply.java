package dev.latchkey.zookeeper;

import java.util.Objects;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * What came of a request.
 *
 * @param code what the servers said, or why they said nothing
 * @param orNull what was asked for, if they said {@link Code#OK}
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

    /** Whether it took effect is not known. */
    boolean isLost() {
        return switch (code) {
            case CONNECTIONLOSS, OPERATIONTIMEOUT, REQUESTTIMEOUT, SESSIONMOVED -> true;
            default -> false;
        };
    }

    /** Of a change: whether a quorum has agreed on it, or on that it cannot be. */
    boolean isCommitted() {
        return switch (code) {
            case OK, NONODE, NODEEXISTS, NOTEMPTY -> true;
            default -> false;
        };
    }

    /** The session, and every node of it, is gone, or was never let in. */
    boolean isSessionEnd() {
        return code == Code.SESSIONEXPIRED || code == Code.AUTHFAILED;
    }
}
