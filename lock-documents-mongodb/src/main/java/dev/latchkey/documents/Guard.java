package dev.latchkey.documents;

import static dev.latchkey.documents.Expressions.cond;
import static dev.latchkey.documents.Expressions.not;
import static dev.latchkey.documents.Expressions.text;

import dev.latchkey.LockConflictedException;
import dev.latchkey.LockException;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import java.time.Duration;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/** The part of a write that checks the lock: the owner of the lock may write, and anybody if nobody holds it. */
sealed interface Guard {

    /** The relation of a caller to the lock of a document, by the server's clock. */
    enum Standing {
        MAY_WRITE,
        /** Shares the lock with others. */
        READS,
        MAY_NOT
    }

    BsonValue mayWrite();

    /** The name of a {@link Standing}. */
    BsonValue standing();

    /** Returns why a document with the expected version was not written. */
    LockException refusal(String name, BsonDocument document, Standing standing);

    /** Whether the write releases the lock. */
    default boolean releases() {
        return false;
    }

    /** The guard for callers without a lock. */
    record Unlocked(Duration skew) implements Guard {

        @Override
        public BsonValue mayWrite() {
            return not(LockFields.isHeld(LockFields.over(skew)));
        }

        @Override
        public BsonValue standing() {
            return cond(mayWrite(), text(Standing.MAY_WRITE.name()), text(Standing.MAY_NOT.name()));
        }

        @Override
        public LockException refusal(String name, BsonDocument document, Standing standing) {
            return new LockConflictedException(
                    name, "not written, somebody else holds its lock: take the lock, or wait until its lease is over");
        }
    }

    /** The guard for the holder of a token. */
    record Owner(String token, Duration skew, After after) implements Guard {

        /** What the write does with the lock. */
        enum After {
            KEPT,
            RELEASED
        }

        @Override
        public boolean releases() {
            return after == After.RELEASED;
        }

        @Override
        public BsonValue mayWrite() {
            return LockFields.mayWrite(token, LockFields.over(skew));
        }

        @Override
        public BsonValue standing() {
            BsonValue others =
                    cond(LockFields.isReader(token), text(Standing.READS.name()), text(Standing.MAY_NOT.name()));
            return cond(mayWrite(), text(Standing.MAY_WRITE.name()), others);
        }

        @Override
        public LockException refusal(String name, BsonDocument document, Standing standing) {
            if (standing == Standing.READS) {
                return new LockConflictedException(
                        name, "not written, others read it too: it can be written when they have released it");
            }
            LossReason reason = LockFields.names(document, token) ? LossReason.EXPIRED : LossReason.TAKEN_OVER;
            return new LockLostException(name, "not written, the lock is no longer held", reason);
        }

        @Override
        public String toString() {
            return "Owner";
        }
    }
}
