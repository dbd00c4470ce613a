package dev.latchkey.documents;

import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.Optional;
import org.bson.BsonDocument;

/**
 * The local view of a lock. Its lease starts on the monotonic clock before each request and is shortened by a margin, so it ends
 * here before it ends on the server.
 *
 * @param end on the monotonic clock
 * @param loss why it was lost, if it was
 */
record DocumentHold(State state, DocumentLockMode mode, long end, long fencingToken, Optional<LossReason> loss) {

    enum State {
        /** Loaded without a lock. */
        NONE,
        HELD,
        /** Held, with a demotion that was not answered and may still take effect. */
        DEMOTING,
        /** Released, without an answer. */
        RELEASING,
        RELEASED,
        LOST
    }

    private static final long DRIFT_NANOS = Duration.ofMillis(2).toNanos();

    static final DocumentHold NONE = new DocumentHold(State.NONE, DocumentLockMode.NONE, 0, 0, Optional.empty());

    static DocumentHold granted(DocumentLockMode mode, long start, Duration ttl, BsonDocument document) {
        long nanos = ttl.toNanos();
        long end = start + nanos - nanos / 100 - DRIFT_NANOS;
        return new DocumentHold(State.HELD, mode, end, LockFields.fencingToken(document), Optional.empty());
    }

    static DocumentHold lost(LossReason reason) {
        return new DocumentHold(State.LOST, DocumentLockMode.NONE, 0, 0, Optional.of(reason));
    }

    DocumentHold in(State other) {
        boolean holds = other == State.HELD || other == State.DEMOTING;
        return new DocumentHold(other, holds ? mode : DocumentLockMode.NONE, end, fencingToken, loss);
    }

    DocumentHold demoting() {
        return new DocumentHold(State.DEMOTING, DocumentLockMode.PESSIMISTIC_READ, end, fencingToken, loss);
    }

    boolean isHeld() {
        return state == State.HELD || state == State.DEMOTING;
    }

    /** Returns whether the server may still keep the lock. */
    boolean mayBeThere() {
        return isHeld() || state == State.RELEASING;
    }

    long remainingNanos() {
        return isHeld() ? Math.max(0, end - System.nanoTime()) : 0;
    }

    /** Throws unless a lock is held. */
    void check(String name) {
        if (state == State.NONE) {
            throw new IllegalStateException(name + " is not locked: load it with a lock first");
        }
        checkWritable(name);
    }

    /** Throws if the lock is gone: the document must not be written as if it were still locked. */
    void checkWritable(String name) {
        if (state == State.LOST) {
            throw new LockLostException(name, "not done, the lock was lost before", loss.orElseThrow());
        }
        if (state == State.RELEASING || state == State.RELEASED) {
            throw new IllegalStateException(name + " was released: load it anew");
        }
    }
}
