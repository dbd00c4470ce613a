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

/** Who may write a document, as a part of the write itself: the owner of its lock, or anybody while nobody holds it. */
sealed interface Guard {

    /** What somebody is to a document, by the server's clock. */
    enum Standing {
        MAY_WRITE,
        /** Shares its lock with others. */
        READS,
        MAY_NOT
    }

    BsonValue mayWrite();

    /** The name of a {@link Standing}. */
    BsonValue standing();

    /** Why a document that has the expected version was not written. */
    LockException refusal(String name, BsonDocument document, Standing standing);

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
        public BsonValue standing() {
            return cond(mayWrite(), text(Standing.MAY_WRITE.name()), text(Standing.MAY_NOT.name()));
        }

        @Override
        public LockException refusal(String name, BsonDocument document, Standing standing) {
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
