package dev.latchkey.mongodb;

import static dev.latchkey.mongodb.Expressions.NOW;
import static dev.latchkey.mongodb.Expressions.UNCHANGED;
import static dev.latchkey.mongodb.Expressions.and;
import static dev.latchkey.mongodb.Expressions.array;
import static dev.latchkey.mongodb.Expressions.atLeast;
import static dev.latchkey.mongodb.Expressions.changed;
import static dev.latchkey.mongodb.Expressions.concat;
import static dev.latchkey.mongodb.Expressions.cond;
import static dev.latchkey.mongodb.Expressions.differ;
import static dev.latchkey.mongodb.Expressions.equal;
import static dev.latchkey.mongodb.Expressions.field;
import static dev.latchkey.mongodb.Expressions.filter;
import static dev.latchkey.mongodb.Expressions.greatest;
import static dev.latchkey.mongodb.Expressions.greatestOf;
import static dev.latchkey.mongodb.Expressions.let;
import static dev.latchkey.mongodb.Expressions.not;
import static dev.latchkey.mongodb.Expressions.number;
import static dev.latchkey.mongodb.Expressions.object;
import static dev.latchkey.mongodb.Expressions.or;
import static dev.latchkey.mongodb.Expressions.orElse;
import static dev.latchkey.mongodb.Expressions.product;
import static dev.latchkey.mongodb.Expressions.stages;
import static dev.latchkey.mongodb.Expressions.sum;
import static dev.latchkey.mongodb.Expressions.text;
import static dev.latchkey.mongodb.Expressions.to;
import static dev.latchkey.mongodb.Expressions.toLong;
import static dev.latchkey.mongodb.Expressions.variable;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Patience;
import dev.latchkey.spi.Request;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonElement;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonValue;

/**
 * Who may hold what: an expression that the server evaluates by its own clock, within the one command that changes the
 * document. A document stays exactly as it is, and is not written, unless something is granted.
 *
 * <ol>
 *   <li>An exclusive hold needs that nobody else holds; a shared one, that nobody holds exclusively and no other reader
 *       waits to promote.
 *   <li>Of two readers that wait to promote, the second is refused: each would wait for the other.
 *   <li>An ended lease counts for nothing, but stays until somebody else is granted the resource, so that a late release
 *       can tell whether the resource changed hands.
 *   <li>There is a writer, or there are readers, never both.
 * </ol>
 */
final class Rules {

    /** A promoter asks again at least every second. */
    private static final long MARK_MILLIS = Duration.ofSeconds(3).toMillis();

    /** No exclusive hold has it. */
    private static final long NO_TOKEN = 0;

    private static final BsonValue NOBODY = BsonNull.VALUE;
    private static final BsonValue NONE = new BsonArray();

    private final Request request;
    private final BsonValue token;
    private final BsonValue number;
    private final BsonValue holder;
    private final long ttlMillis;
    private final long retentionMillis;

    /**
     * Begins with one call.
     *
     * @param number of this call, by which it finds what it was granted
     * @param holder who asks, for people
     * @param retention how long a document stays when it is no longer used
     */
    Rules(Request request, long number, String holder, Duration retention) {
        this.request = request;
        this.token = text(request.key().token());
        this.number = number(number);
        this.holder = text(holder);
        this.ttlMillis = roundedUp(request.ttl());
        this.retentionMillis = retention.toMillis();
    }

    /** A date has whole milliseconds; a lease must not end before it should. */
    private static long roundedUp(Duration ttl) {
        return ttl.plusNanos(999_999).toMillis();
    }

    List<BsonDocument> save() {
        return stages(request.mode() == LockMode.EXCLUSIVE ? exclusive() : shared());
    }

    /** Renews whatever the key holds, and takes nothing. */
    List<BsonDocument> refresh() {
        return stages(cond(writes(), renewWriter(), cond(reads(), renewReader(), UNCHANGED)));
    }

    private BsonValue exclusive() {
        BsonValue promote = cond(othersRead(), promotionRefused(), write(greatest(field(Fields.EXPIRES_AT), end())));
        BsonValue grant = isClaimed() ? UNCHANGED : cond(and(not(isLive()), isOursOrNew()), write(end()), UNCHANGED);
        return cond(writes(), renewWriter(), cond(reads(), promote, grant));
    }

    private BsonValue shared() {
        BsonValue admits = or(not(isLive()), and(equal(field(Fields.TOKEN), NOBODY), not(anotherPromotes())));
        BsonValue grant = isClaimed() ? UNCHANGED : cond(and(isOursOrNew(), admits), read(), UNCHANGED);
        return cond(writes(), demote(), cond(reads(), renewReader(), grant));
    }

    private static BsonValue isLive() {
        return atLeast(field(Fields.EXPIRES_AT), NOW);
    }

    /** An upsert begins with nothing but the name. */
    private static BsonValue isOursOrNew() {
        return or(
                equal(field(Fields.FORMAT), new BsonInt32(Fields.FORMAT_1)),
                equal(UNCHANGED, object(to(Fields.RESOURCE, field(Fields.RESOURCE)))));
    }

    private boolean isClaimed() {
        return request.key().held().isPresent();
    }

    /** Whether the key holds exclusively, as it claims: a hold that was released and taken anew elsewhere is another. */
    private BsonValue writes() {
        BsonValue isOwn = and(isLive(), equal(field(Fields.TOKEN), token));
        OptionalLong claim = claimedToken(request.key());
        return claim.isEmpty() ? isOwn : and(isOwn, equal(field(Fields.FENCING_TOKEN), number(claim.getAsLong())));
    }

    private BsonValue reads() {
        return claimedToken(request.key()).isPresent()
                ? BsonBoolean.FALSE
                : and(isLive(), differ(filter(readers(), and(isOwnReader(), isLiveReader())), NONE));
    }

    private BsonValue othersRead() {
        return differ(filter(readers(), and(not(isOwnReader()), isLiveReader())), NONE);
    }

    private BsonValue anotherPromotes() {
        return and(
                atLeast(field(Fields.PROMOTER + "." + Fields.UNTIL), NOW),
                differ(field(Fields.PROMOTER + "." + Fields.TOKEN), token));
    }

    private static BsonValue readers() {
        return orElse(field(Fields.READERS), NONE);
    }

    private BsonValue isOwnReader() {
        return equal(variable("one." + Fields.TOKEN), token);
    }

    private static BsonValue isLiveReader() {
        return atLeast(variable("one." + Fields.EXPIRES_AT), NOW);
    }

    /** A promotion never shortens the lease: its holder may not learn of it in time, and believes in the shared one. */
    private BsonValue write(BsonValue until) {
        BsonValue next = greatest(
                sum(orElse(field(Fields.FENCING_TOKEN), number(NO_TOKEN)), number(1)),
                product(toLong(NOW), number(1_000)));
        return changed(
                format(),
                to(Fields.TOKEN, token),
                to(Fields.REQUEST, number),
                to(Fields.HOLDER, holder),
                to(Fields.RENEWED_AT, NOW),
                to(Fields.EXPIRES_AT, until),
                to(Fields.FENCING_TOKEN, next),
                to(Fields.READERS, NONE),
                to(Fields.PROMOTER, NOBODY),
                keptUntil(until));
    }

    private BsonValue renewWriter() {
        return changed(
                to(Fields.REQUEST, number), to(Fields.RENEWED_AT, NOW), to(Fields.EXPIRES_AT, end()), keptUntil(end()));
    }

    private BsonValue read() {
        return withReaders(filter(readers(), and(not(isOwnReader()), isLiveReader())), NOBODY);
    }

    private BsonValue demote() {
        return withReaders(NONE, NOBODY);
    }

    private BsonValue renewReader() {
        BsonValue othersMark = cond(anotherPromotes(), field(Fields.PROMOTER), NOBODY);
        return withReaders(filter(readers(), not(isOwnReader())), othersMark);
    }

    private BsonValue withReaders(BsonValue others, BsonValue mark) {
        BsonValue own = object(
                to(Fields.TOKEN, token),
                to(Fields.REQUEST, number),
                to(Fields.HOLDER, holder),
                to(Fields.EXPIRES_AT, end()));
        BsonValue changed = changed(
                format(),
                to(Fields.TOKEN, NOBODY),
                to(Fields.REQUEST, NOBODY),
                to(Fields.HOLDER, NOBODY),
                to(Fields.RENEWED_AT, NOBODY),
                to(Fields.EXPIRES_AT, greatestOf(concat(variable("others." + Fields.EXPIRES_AT), array(end())))),
                to(Fields.FENCING_TOKEN, orElse(field(Fields.FENCING_TOKEN), number(NO_TOKEN))),
                to(Fields.READERS, concat(variable("others"), array(own))),
                to(Fields.PROMOTER, mark),
                keptUntil(end()));
        return let("others", others, changed);
    }

    /** Leaves a mark that keeps new readers out as long as the promoter asks again, and takes it away with the last try. */
    private BsonValue promotionRefused() {
        if (request.patience() == Patience.ONCE) {
            BsonValue isOwnMark = equal(field(Fields.PROMOTER + "." + Fields.TOKEN), token);
            return cond(isOwnMark, changed(to(Fields.PROMOTER, NOBODY)), UNCHANGED);
        }
        BsonValue mark = object(
                to(Fields.TOKEN, token), to(Fields.REQUEST, number), to(Fields.UNTIL, sum(NOW, number(MARK_MILLIS))));
        return cond(anotherPromotes(), UNCHANGED, changed(to(Fields.PROMOTER, mark)));
    }

    /** Gives up what the key holds, or held last. */
    static List<BsonDocument> delete(Key key, Duration retention) {
        BsonValue token = text(key.token());
        BsonValue kept = greatest(field(Fields.KEPT_UNTIL), sum(NOW, number(retention.toMillis())));
        BsonValue writer = changed(
                to(Fields.TOKEN, NOBODY),
                to(Fields.REQUEST, NOBODY),
                to(Fields.HOLDER, NOBODY),
                to(Fields.RENEWED_AT, NOBODY),
                to(Fields.EXPIRES_AT, NOBODY),
                to(Fields.KEPT_UNTIL, kept));
        BsonValue isOwnMark = equal(field(Fields.PROMOTER + "." + Fields.TOKEN), token);
        BsonValue reader = changed(
                to(Fields.READERS, variable("others")),
                to(Fields.EXPIRES_AT, greatestOf(variable("others." + Fields.EXPIRES_AT))),
                to(Fields.PROMOTER, cond(isOwnMark, NOBODY, field(Fields.PROMOTER))),
                to(Fields.KEPT_UNTIL, kept));
        BsonValue others = filter(readers(), differ(variable("one." + Fields.TOKEN), token));
        return stages(cond(equal(field(Fields.TOKEN), token), writer, let("others", others, reader)));
    }

    private BsonValue end() {
        return sum(NOW, number(ttlMillis));
    }

    private BsonElement keptUntil(BsonValue until) {
        return to(Fields.KEPT_UNTIL, greatest(field(Fields.KEPT_UNTIL), sum(until, number(retentionMillis))));
    }

    private static BsonElement format() {
        return to(Fields.FORMAT, new BsonInt32(Fields.FORMAT_1));
    }

    /** The number of the exclusive hold a key says it has. */
    static OptionalLong claimedToken(Key key) {
        Optional<Key.Held> held = key.held().filter(claim -> claim.mode() == LockMode.EXCLUSIVE);
        return held.map(claim -> OptionalLong.of(claim.fencingToken().orElse(NO_TOKEN)))
                .orElse(OptionalLong.empty());
    }
}
