package dev.latchkey.documents;

import static dev.latchkey.documents.Expressions.not;
import static dev.latchkey.documents.Expressions.where;

import dev.latchkey.LockConflictedException;
import dev.latchkey.LockException;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import org.bson.BsonDocument;

/** Who may write a document, as a part of the write itself: the owner of its lock, or anybody while nobody holds it. */
sealed interface Guard {

    BsonDocument filter();

    /** Why a document that has the expected version was not written. */
    LockException refusal(String name, BsonDocument document);

    /** Whether the lock is given up with the write. */
    default boolean releases() {
        return false;
    }

    /** For those who hold no lock. */
    record Unlocked() implements Guard {

        @Override
        public BsonDocument filter() {
            return where(not(LockFields.isHeld()));
        }

        @Override
        public LockException refusal(String name, BsonDocument document) {
            return new LockConflictedException(
                    name, "not written, somebody else holds its lock: take the lock, or wait until its lease is over");
        }
    }

    /** For who has been granted the lock under a token. */
    record Owner(String token, boolean releases) implements Guard {

        static Owner keeping(String token) {
            return new Owner(token, false);
        }

        static Owner releasing(String token) {
            return new Owner(token, true);
        }

        @Override
        public BsonDocument filter() {
            return where(LockFields.mayWrite(token));
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
