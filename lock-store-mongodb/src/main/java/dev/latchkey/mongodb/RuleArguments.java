package dev.latchkey.mongodb;

import static dev.latchkey.mongodb.Expressions.NOW;
import static dev.latchkey.mongodb.Expressions.number;
import static dev.latchkey.mongodb.Expressions.sum;
import static dev.latchkey.mongodb.Expressions.text;
import static dev.latchkey.mongodb.Expressions.variable;

import dev.latchkey.Key;
import dev.latchkey.spi.Request;
import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/**
 * The variables of a rule: what differs from one call to the next.
 *
 * @param values by their names
 */
record RuleArguments(BsonDocument values) {

    /** The token of the caller. */
    static final BsonValue TOKEN = variable("token");

    /** The id of the request, by which the caller recognizes its grant. */
    static final BsonValue REQUEST = variable("request");

    /** A description of the caller, for people. */
    static final BsonValue HOLDER = variable("holder");

    /** The time before which a lease of another key must have ended to count as over: now, less the allowed clock skew. */
    static final BsonValue OVER = variable("over");

    /** The end of a lease that begins now. */
    static final BsonValue END = variable("end");

    /** The fencing token that the key claims. */
    static final BsonValue CLAIM = variable("claim");

    /** How long a document is kept after its last use. */
    static final BsonValue RETENTION = variable("retention");

    static RuleArguments of(Request request, long number, String holder, Duration retention, Duration skew) {
        BsonDocument values = of(request.key(), retention)
                .values
                .append("over", skew.isZero() ? NOW : sum(NOW, number(-roundedUp(skew))))
                .append("request", number(number))
                .append("holder", text(holder))
                .append("end", sum(NOW, number(roundedUp(request.ttl()))));
        Rules.claimedToken(request.key()).ifPresent(claim -> values.append("claim", number(claim)));
        return new RuleArguments(values);
    }

    static RuleArguments of(Key key, Duration retention) {
        return new RuleArguments(
                new BsonDocument("token", text(key.token())).append("retention", number(retention.toMillis())));
    }

    /** Rounds up to whole milliseconds, as dates have them: a lease must not end too early. */
    private static long roundedUp(Duration ttl) {
        return ttl.plusNanos(999_999).toMillis();
    }

    /** Returns the update that replaces the document with the result of a rule. */
    List<BsonDocument> applied(BsonDocument rule) {
        BsonDocument result = new BsonDocument("$let", new BsonDocument("vars", values).append("in", rule));
        return List.of(new BsonDocument("$replaceWith", result));
    }
}
