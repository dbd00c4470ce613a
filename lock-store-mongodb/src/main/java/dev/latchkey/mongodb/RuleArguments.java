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
 * What differs from one call to the next: the variables of a rule.
 *
 * @param values by their names
 */
record RuleArguments(BsonDocument values) {

    /** Whose call it is. */
    static final BsonValue TOKEN = variable("token");

    /** Which call it is: by it the caller finds what it was granted. */
    static final BsonValue REQUEST = variable("request");

    /** Who asks, for people. */
    static final BsonValue HOLDER = variable("holder");

    /** Leases of others that ended before it are over: now, less how far the clocks of routers may differ. */
    static final BsonValue OVER = variable("over");

    /** When a lease ends that begins now. */
    static final BsonValue END = variable("end");

    /** The fencing token that the key says it has. */
    static final BsonValue CLAIM = variable("claim");

    /** How long a document stays when it is no longer used. */
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

    /** A date has whole milliseconds; a lease must not end before it should. */
    private static long roundedUp(Duration ttl) {
        return ttl.plusNanos(999_999).toMillis();
    }

    /** The update by which the document becomes what a rule makes of it. */
    List<BsonDocument> applied(BsonDocument rule) {
        BsonDocument result = new BsonDocument("$let", new BsonDocument("vars", values).append("in", rule));
        return List.of(new BsonDocument("$replaceWith", result));
    }
}
