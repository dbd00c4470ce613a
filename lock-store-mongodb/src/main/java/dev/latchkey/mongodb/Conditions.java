package dev.latchkey.mongodb;

import static dev.latchkey.mongodb.Expressions.NOW;
import static dev.latchkey.mongodb.Expressions.UNCHANGED;
import static dev.latchkey.mongodb.Expressions.and;
import static dev.latchkey.mongodb.Expressions.atLeast;
import static dev.latchkey.mongodb.Expressions.differ;
import static dev.latchkey.mongodb.Expressions.equal;
import static dev.latchkey.mongodb.Expressions.field;
import static dev.latchkey.mongodb.Expressions.filter;
import static dev.latchkey.mongodb.Expressions.not;
import static dev.latchkey.mongodb.Expressions.object;
import static dev.latchkey.mongodb.Expressions.or;
import static dev.latchkey.mongodb.Expressions.orElse;
import static dev.latchkey.mongodb.Expressions.to;
import static dev.latchkey.mongodb.Expressions.variable;

import org.bson.BsonArray;
import org.bson.BsonDateTime;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonValue;

/** The conditions that rules test on a document, for the caller of the {@link RuleArguments}. */
final class Conditions {

    static final BsonValue NOBODY = BsonNull.VALUE;
    static final BsonValue NONE = new BsonArray();

    private Conditions() {}

    static BsonValue isLive() {
        return atLeast(field(Fields.EXPIRES_AT), NOW);
    }

    /** Whether a lease is over for another key, whose router's clock may be ahead of that of the holder's. */
    static BsonValue isLiveForOthers() {
        return atLeast(field(Fields.EXPIRES_AT), RuleArguments.OVER);
    }

    /** An upsert starts with the name only. A value that sorts before every date would count as an end in the past. */
    static BsonValue isOursOrNew() {
        BsonValue hasAnEnd =
                or(equal(field(Fields.EXPIRES_AT), NOBODY), atLeast(field(Fields.EXPIRES_AT), new BsonDateTime(0)));
        return or(
                and(equal(field(Fields.FORMAT), new BsonInt32(Fields.FORMAT_1)), hasAnEnd),
                equal(UNCHANGED, object(to(Fields.RESOURCE, field(Fields.RESOURCE)))));
    }

    static BsonValue isShareable() {
        return or(not(isLiveForOthers()), and(equal(field(Fields.TOKEN), NOBODY), not(anotherPromotes())));
    }

    static BsonValue writes() {
        return and(isLive(), ownToken());
    }

    /** A hold that was released and acquired again elsewhere is another hold. */
    static BsonValue writesAsClaimed() {
        return and(writes(), equal(field(Fields.FENCING_TOKEN), RuleArguments.CLAIM));
    }

    /** Includes a hold whose lease has ended. */
    static BsonValue ownToken() {
        return equal(field(Fields.TOKEN), RuleArguments.TOKEN);
    }

    static BsonValue reads() {
        return and(isLive(), differ(filter(readers(), and(isOwnReader(), isLiveReader())), NONE));
    }

    static BsonValue othersRead() {
        return differ(otherLiveReaders(), NONE);
    }

    static BsonValue otherLiveReaders() {
        return filter(
                readers(), and(not(isOwnReader()), atLeast(variable("one." + Fields.EXPIRES_AT), RuleArguments.OVER)));
    }

    static BsonValue ownReaders() {
        return filter(readers(), isOwnReader());
    }

    /** Includes holds whose leases have ended. */
    static BsonValue otherReaders() {
        return filter(readers(), not(isOwnReader()));
    }

    static BsonValue promotes() {
        return equal(field(Fields.PROMOTER + "." + Fields.TOKEN), RuleArguments.TOKEN);
    }

    static BsonValue anotherPromotes() {
        return and(atLeast(field(Fields.PROMOTER + "." + Fields.UNTIL), NOW), not(promotes()));
    }

    private static BsonValue readers() {
        return orElse(field(Fields.READERS), NONE);
    }

    private static BsonValue isOwnReader() {
        return equal(variable("one." + Fields.TOKEN), RuleArguments.TOKEN);
    }

    private static BsonValue isLiveReader() {
        return atLeast(variable("one." + Fields.EXPIRES_AT), NOW);
    }
}
