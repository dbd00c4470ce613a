package dev.latchkey.documents;

import static dev.latchkey.documents.Expressions.not;

import dev.latchkey.LockConflictedException;
import dev.latchkey.LockException;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import java.time.Duration;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/** Who may write a document, as a part of the write itself: the owner of its lock, or anybody while nobody holds it. */
sealed interface Guard {

    BsonValue mayWrite();

    /** Why a document that has the expected version was not written. */
    LockException refusal(String name, BsonDocument document);

    /** Whether the lock is given up with the write. */
    default boolean releases() {
        return false;
    }

    /** For those who hold no lock. */
    record Unlocked(Duration skew) implements Guard {

        @Override
        public BsonValue mayWrite() {
            return not(LockFields.isHeld(LockFields.over(skew)));
        }

        @Override
        public LockException refusal(String name, BsonDocument document) {
            return new LockConflictedException(
                    name, "not written, somebody else holds its lock: take the lock, or wait until its lease is over");
        }
    }

    /** For who has been granted the lock under a token. */
    record Owner(String token, Duration skew, After after) implements Guard {

        /** What becomes of the lock with the write. */
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
        public LockException refusal(String name, BsonDocument document) {
            if (LockFields.isNamedReader(document, token)) {
                return new LockConflictedException(
                        name, "not written, others read it too, or the lease is over: promote the lock first");
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
