package dev.latchkey.documents;

import static dev.latchkey.documents.Expressions.NONE;
import static dev.latchkey.documents.Expressions.NOW;
import static dev.latchkey.documents.Expressions.UNCHANGED;
import static dev.latchkey.documents.Expressions.array;
import static dev.latchkey.documents.Expressions.concat;
import static dev.latchkey.documents.Expressions.cond;
import static dev.latchkey.documents.Expressions.equal;
import static dev.latchkey.documents.Expressions.greatest;
import static dev.latchkey.documents.Expressions.merged;
import static dev.latchkey.documents.Expressions.not;
import static dev.latchkey.documents.Expressions.number;
import static dev.latchkey.documents.Expressions.object;
import static dev.latchkey.documents.Expressions.or;
import static dev.latchkey.documents.Expressions.orElse;
import static dev.latchkey.documents.Expressions.product;
import static dev.latchkey.documents.Expressions.stages;
import static dev.latchkey.documents.Expressions.sum;
import static dev.latchkey.documents.Expressions.text;
import static dev.latchkey.documents.Expressions.to;
import static dev.latchkey.documents.Expressions.toLong;
import static dev.latchkey.documents.Expressions.where;

import com.mongodb.client.model.Filters;
import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonNull;
import org.bson.BsonValue;
import org.bson.conversions.Bson;

/**
 * The rules of locking, as filters and pipelines that the server evaluates by its own clock, within the command that changes the
 * document.
 *
 * <ol>
 *   <li>A write lock is granted if nobody else holds a lock; a read lock if nobody else holds a write lock.
 *   <li>There is a write lock, or there are read locks, never both.
 *   <li>The fencing token grows with each write lock, also in a document that was deleted and created again.
 *   <li>An ended lease does not count, but its token stays until the lock is granted again.
 * </ol>
 */
final class LockRules {

    private final String token;
    private final long ttlMillis;
    private final BsonValue over;

    /**
     * Creates the rules for one call.
     *
     * @param token of who asks: 32 hexadecimal digits
     * @param ttl of what is granted; a date has whole milliseconds, and a lease must not end before it should
     * @param skew how long after its end a lease of another counts still
     */
    LockRules(String token, Duration ttl, Duration skew) {
        this.token = token;
        this.over = LockFields.over(skew);
        this.ttlMillis = ttl.plusNanos(999_999).toMillis();
    }

    /** Acquires the lock if it is free, and otherwise leaves the document as it is. */
    List<BsonDocument> take(DocumentLockMode mode) {
        return mode == DocumentLockMode.PESSIMISTIC_WRITE
                ? stages(cond(not(LockFields.isHeld(over)), with(writing(nextFencingToken())), UNCHANGED))
                : stages(cond(LockFields.isWrittenByOther(token, over), UNCHANGED, with(reading())));
    }

    /** True if nobody else has a read lock. */
    Bson mayPromote() {
        return where(LockFields.mayWrite(token, over));
    }

    List<BsonDocument> promote() {
        BsonValue kept = LockFields.of(LockFields.FENCING_TOKEN);
        return stages(with(writing(cond(LockFields.isWriter(token), kept, nextFencingToken()))));
    }

    Bson isHolder() {
        return where(or(LockFields.isWriter(token), LockFields.isReader(token)));
    }

    List<BsonDocument> demote() {
        return stages(with(reading()));
    }

    /** The rule for loading without a lock. */
    BsonValue isWrittenByOther() {
        return LockFields.isWrittenByOther(token, over);
    }

    /** Renews the lock in its mode. */
    List<BsonDocument> refresh() {
        BsonValue writing = writing(LockFields.of(LockFields.FENCING_TOKEN));
        return stages(with(cond(LockFields.isWriter(token), writing, reading())));
    }

    /** True while the document contains the token: even after its lease, if the lock was not granted since. */
    Bson isNamed() {
        return Filters.or(
                Filters.eq(LockFields.LOCK + "." + LockFields.WRITER, token),
                Filters.eq(LockFields.LOCK + "." + LockFields.READERS + "." + LockFields.TOKEN, token));
    }

    List<BsonDocument> release() {
        BsonDocument freed = object(
                to(LockFields.WRITER, BsonNull.VALUE),
                to(LockFields.UNTIL, BsonNull.VALUE),
                to(LockFields.READERS, NONE),
                to(LockFields.FENCING_TOKEN, LockFields.of(LockFields.FENCING_TOKEN)));
        BsonDocument left = merged(
                Expressions.field(LockFields.LOCK),
                object(to(LockFields.READERS, LockFields.otherReaders(token, over))));
        BsonValue isWriter = equal(LockFields.of(LockFields.WRITER), text(token));
        return stages(with(cond(isWriter, freed, left)));
    }

    private static BsonValue nextFencingToken() {
        return greatest(
                sum(orElse(LockFields.of(LockFields.FENCING_TOKEN), number(0)), number(1)),
                product(toLong(NOW), number(1_000)));
    }

    private BsonDocument writing(BsonValue fencingToken) {
        return object(
                to(LockFields.WRITER, text(token)),
                to(LockFields.UNTIL, end()),
                to(LockFields.READERS, NONE),
                to(LockFields.FENCING_TOKEN, fencingToken));
    }

    private BsonDocument reading() {
        BsonDocument own = object(to(LockFields.TOKEN, text(token)), to(LockFields.UNTIL, end()));
        return object(
                to(LockFields.WRITER, BsonNull.VALUE),
                to(LockFields.UNTIL, BsonNull.VALUE),
                to(LockFields.READERS, concat(LockFields.otherReaders(token, over), array(own))),
                to(LockFields.FENCING_TOKEN, orElse(LockFields.of(LockFields.FENCING_TOKEN), number(0))));
    }

    private BsonValue end() {
        return sum(NOW, number(ttlMillis));
    }

    private static BsonDocument with(BsonValue lock) {
        return merged(UNCHANGED, object(to(LockFields.LOCK, lock)));
    }
}
