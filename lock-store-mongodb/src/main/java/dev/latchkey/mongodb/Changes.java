package dev.latchkey.mongodb;

import static dev.latchkey.mongodb.Expressions.NOW;
import static dev.latchkey.mongodb.Expressions.array;
import static dev.latchkey.mongodb.Expressions.changed;
import static dev.latchkey.mongodb.Expressions.concat;
import static dev.latchkey.mongodb.Expressions.cond;
import static dev.latchkey.mongodb.Expressions.field;
import static dev.latchkey.mongodb.Expressions.greatest;
import static dev.latchkey.mongodb.Expressions.greatestOf;
import static dev.latchkey.mongodb.Expressions.let;
import static dev.latchkey.mongodb.Expressions.number;
import static dev.latchkey.mongodb.Expressions.object;
import static dev.latchkey.mongodb.Expressions.orElse;
import static dev.latchkey.mongodb.Expressions.product;
import static dev.latchkey.mongodb.Expressions.sum;
import static dev.latchkey.mongodb.Expressions.to;
import static dev.latchkey.mongodb.Expressions.toLong;
import static dev.latchkey.mongodb.Expressions.variable;

import dev.latchkey.spi.LeaseChange;
import java.time.Duration;
import org.bson.BsonElement;
import org.bson.BsonInt32;
import org.bson.BsonValue;

/** The changes that rules make to a document, for the caller of the {@link RuleArguments}. */
final class Changes {

    /** A key that waits for promotion asks again at least every second. */
    private static final long MARK_MILLIS = Duration.ofSeconds(3).toMillis();

    /** A number that no exclusive hold has. */
    static final long NO_TOKEN = 0;

    /** If only the caller's hold is left, its lease is the last one. */
    private static final BsonValue OWN_END = field(Fields.EXPIRES_AT);

    private Changes() {}

    static BsonValue write() {
        return write(RuleArguments.END);
    }

    static BsonValue promote(LeaseChange change) {
        return write(end(change, OWN_END));
    }

    /** A request that is late, repeated or overtaken must not end a lease sooner than its holder believes. */
    private static BsonValue end(LeaseChange change, BsonValue present) {
        return change == LeaseChange.SET ? RuleArguments.END : greatest(present, RuleArguments.END);
    }

    private static BsonValue write(BsonValue until) {
        BsonValue next = greatest(sum(lastFencingToken(), number(1)), product(toLong(NOW), number(1_000)));
        return changed(
                format(),
                to(Fields.TOKEN, RuleArguments.TOKEN),
                to(Fields.REQUEST, RuleArguments.REQUEST),
                to(Fields.HOLDER, RuleArguments.HOLDER),
                to(Fields.RENEWED_AT, NOW),
                to(Fields.EXPIRES_AT, until),
                to(Fields.FENCING_TOKEN, next),
                to(Fields.READERS, Conditions.NONE),
                to(Fields.PROMOTER, Conditions.NOBODY),
                keptFrom(until));
    }

    static BsonValue renewWriter(LeaseChange change) {
        BsonValue end = end(change, OWN_END);
        return changed(
                to(Fields.REQUEST, RuleArguments.REQUEST),
                to(Fields.RENEWED_AT, NOW),
                to(Fields.EXPIRES_AT, end),
                keptFrom(end));
    }

    static BsonValue read() {
        return withReaders(Conditions.otherLiveReaders(), RuleArguments.END, Conditions.NOBODY);
    }

    static BsonValue demote(LeaseChange change) {
        return withReaders(Conditions.NONE, end(change, OWN_END), Conditions.NOBODY);
    }

    /** A key that asks to share does not wait for promotion any more. */
    static BsonValue renewReader(LeaseChange change) {
        return renewReader(change, cond(Conditions.anotherPromotes(), field(Fields.PROMOTER), Conditions.NOBODY));
    }

    /** A refresh says nothing about whether the key waits for promotion. */
    static BsonValue refreshReader(LeaseChange change) {
        return renewReader(change, orElse(field(Fields.PROMOTER), Conditions.NOBODY));
    }

    private static BsonValue renewReader(LeaseChange change, BsonValue mark) {
        BsonValue end = end(change, greatestOf(variable("own." + Fields.EXPIRES_AT)));
        return let("own", Conditions.ownReaders(), withReaders(Conditions.otherReaders(), end, mark));
    }

    private static BsonValue withReaders(BsonValue others, BsonValue until, BsonValue mark) {
        BsonValue own = object(
                to(Fields.TOKEN, RuleArguments.TOKEN),
                to(Fields.REQUEST, RuleArguments.REQUEST),
                to(Fields.HOLDER, RuleArguments.HOLDER),
                to(Fields.EXPIRES_AT, until));
        BsonValue ends = concat(variable("others." + Fields.EXPIRES_AT), array(until));
        BsonValue changed = changed(
                format(),
                to(Fields.TOKEN, Conditions.NOBODY),
                to(Fields.REQUEST, Conditions.NOBODY),
                to(Fields.HOLDER, Conditions.NOBODY),
                to(Fields.RENEWED_AT, Conditions.NOBODY),
                to(Fields.EXPIRES_AT, greatestOf(ends)),
                to(Fields.FENCING_TOKEN, lastFencingToken()),
                to(Fields.READERS, concat(variable("others"), array(own))),
                to(Fields.PROMOTER, mark),
                keptFrom(until));
        return let("others", others, changed);
    }

    /** Refuses new shared holds as long as the key that waits for promotion asks again. */
    static BsonValue mark() {
        BsonValue mark = object(
                to(Fields.TOKEN, RuleArguments.TOKEN),
                to(Fields.REQUEST, RuleArguments.REQUEST),
                to(Fields.UNTIL, sum(NOW, number(MARK_MILLIS))));
        return changed(to(Fields.PROMOTER, mark));
    }

    static BsonValue unmark() {
        return changed(to(Fields.PROMOTER, Conditions.NOBODY));
    }

    static BsonValue withoutWriter() {
        return changed(
                to(Fields.TOKEN, Conditions.NOBODY),
                to(Fields.REQUEST, Conditions.NOBODY),
                to(Fields.HOLDER, Conditions.NOBODY),
                to(Fields.RENEWED_AT, Conditions.NOBODY),
                to(Fields.EXPIRES_AT, Conditions.NOBODY),
                keptFrom(NOW));
    }

    static BsonValue withoutReader() {
        BsonValue changed = changed(
                to(Fields.READERS, variable("others")),
                to(Fields.EXPIRES_AT, greatestOf(variable("others." + Fields.EXPIRES_AT))),
                to(Fields.PROMOTER, cond(Conditions.promotes(), Conditions.NOBODY, field(Fields.PROMOTER))),
                keptFrom(NOW));
        return let("others", Conditions.otherReaders(), changed);
    }

    private static BsonValue lastFencingToken() {
        return orElse(field(Fields.FENCING_TOKEN), number(NO_TOKEN));
    }

    private static BsonElement keptFrom(BsonValue end) {
        return to(Fields.KEPT_UNTIL, greatest(field(Fields.KEPT_UNTIL), sum(end, RuleArguments.RETENTION)));
    }

    private static BsonElement format() {
        return to(Fields.FORMAT, new BsonInt32(Fields.FORMAT_1));
    }
}
