package dev.latchkey.documents;

import static dev.latchkey.documents.Expressions.NONE;
import static dev.latchkey.documents.Expressions.NOW;
import static dev.latchkey.documents.Expressions.and;
import static dev.latchkey.documents.Expressions.differ;
import static dev.latchkey.documents.Expressions.equal;
import static dev.latchkey.documents.Expressions.field;
import static dev.latchkey.documents.Expressions.filter;
import static dev.latchkey.documents.Expressions.later;
import static dev.latchkey.documents.Expressions.not;
import static dev.latchkey.documents.Expressions.number;
import static dev.latchkey.documents.Expressions.or;
import static dev.latchkey.documents.Expressions.orElse;
import static dev.latchkey.documents.Expressions.sum;
import static dev.latchkey.documents.Expressions.text;
import static dev.latchkey.documents.Expressions.variable;

import java.time.Duration;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/** The fields of a lock in its document, and expressions for its holders by the server's clock. */
final class LockFields {

    static final String LOCK = "_lock";

    /** The token of the exclusive holder, or null. */
    static final String WRITER = "writer";

    /** The list of shared holders, each with token and end. */
    static final String READERS = "readers";

    static final String TOKEN = "token";

    /** The end of a hold: of the exclusive one, or of one shared one. */
    static final String UNTIL = "until";

    static final String FENCING_TOKEN = "fencingToken";

    private LockFields() {}

    static BsonValue of(String name) {
        return field(LOCK + "." + name);
    }

    /**
     * The time before which a lease of another key must have ended to count as over: now, less the allowed skew of the routers'
     * clocks.
     */
    static BsonValue over(Duration skew) {
        return skew.isZero() ? NOW : sum(NOW, number(-skew.plusNanos(999_999).toMillis()));
    }

    static BsonValue isHeld(BsonValue over) {
        return or(isWritten(over), differ(filter(readers(), isLive(over)), NONE));
    }

    /** A missing value sorts before every date. */
    private static BsonValue isWritten(BsonValue over) {
        return later(of(UNTIL), over);
    }

    static BsonValue isWriter(String token) {
        return and(isWritten(NOW), equal(of(WRITER), text(token)));
    }

    static BsonValue isWrittenByOther(String token, BsonValue over) {
        return and(isWritten(over), differ(of(WRITER), text(token)));
    }

    static BsonValue isReader(String token) {
        return differ(filter(readers(), and(isOwn(token), isLive(NOW))), NONE);
    }

    static BsonValue otherReaders(String token, BsonValue over) {
        return filter(readers(), and(not(isOwn(token)), isLive(over)));
    }

    /** True if the holder of a token may write, because nobody else holds the lock. */
    static BsonValue mayWrite(String token, BsonValue over) {
        return or(isWriter(token), and(isReader(token), equal(otherReaders(token, over), NONE)));
    }

    private static BsonValue readers() {
        return orElse(of(READERS), NONE);
    }

    private static BsonValue isOwn(String token) {
        return equal(variable("one." + TOKEN), text(token));
    }

    private static BsonValue isLive(BsonValue over) {
        return later(variable("one." + UNTIL), over);
    }

    /** Returns whether a document contains a token, even if its lease is over. */
    static boolean names(BsonDocument document, String token) {
        return isNamedWriter(document, token) || isNamedReader(document, token);
    }

    private static boolean isNamedWriter(BsonDocument document, String token) {
        return lock(document).get(WRITER, text("")).equals(text(token));
    }

    private static boolean isNamedReader(BsonDocument document, String token) {
        BsonValue readers = lock(document).get(READERS);
        return readers != null
                && readers.isArray()
                && readers.asArray().stream()
                        .anyMatch(reader -> reader.isDocument()
                                && text(token).equals(reader.asDocument().get(TOKEN)));
    }

    /** Operators may free a document by removing its lock, or setting it to null. */
    private static BsonDocument lock(BsonDocument document) {
        BsonValue lock = document.get(LOCK);
        return lock != null && lock.isDocument() ? lock.asDocument() : new BsonDocument();
    }

    /** A number that was edited by hand may have another type. */
    static long fencingToken(BsonDocument document) {
        return document.getDocument(LOCK).getNumber(FENCING_TOKEN).longValue();
    }
}
