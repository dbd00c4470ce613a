package dev.latchkey.documents;

import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.Optional;
import org.bson.BsonDocument;

/**
 * What this process believes of a lock: its lease is counted on the monotonic clock from before each request, less a margin,
 * so that it is over here before it is over on the server.
 *
 * @param end on the monotonic clock
 * @param loss why it was lost, if it was
 */
record DocumentHold(State state, DocumentLockMode mode, long end, long fencingToken, Optional<LossReason> loss) {

    enum State {
        /** Loaded without a lock. */
        NONE,
        HELD,
        /** Held, and a demotion was sent that is not answered: it may be done at any time. */
        DEMOTING,
        /** A release was sent that is not answered. */
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

    /** Whether the server may have it still. */
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

    /** Throws if there was a lock and is none: without it the document must not be written as with it. */
    void checkWritable(String name) {
        if (state == State.LOST) {
            throw new LockLostException(name, "not done, the lock was lost before", loss.orElseThrow());
        }
        if (state == State.RELEASING || state == State.RELEASED) {
            throw new IllegalStateException(name + " was released: load it anew");
        }
    }
}
