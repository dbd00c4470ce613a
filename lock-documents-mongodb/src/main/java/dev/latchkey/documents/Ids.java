package dev.latchkey.documents;

import java.math.BigDecimal;
import java.util.stream.Collectors;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.types.Decimal128;

/** Compares ids as the server does, which compares numbers of different types by value. */
final class Ids {

    private Ids() {}

    static boolean areSame(BsonValue one, BsonValue other) {
        return key(one).equals(key(other));
    }

    /** Returns a text that is equal for equal ids, and different for others. */
    static String key(BsonValue id) {
        if (id.isDocument()) {
            return id.asDocument().entrySet().stream()
                    .map(field -> field.getKey().length() + ":" + field.getKey() + "=" + key(field.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        return id.isNumber() || id.isDecimal128() ? "number " + number(id) : id.getBsonType() + " " + json(id);
    }

    private static String number(BsonValue id) {
        if (id.isInt32() || id.isInt64()) {
            return text(BigDecimal.valueOf(id.asNumber().longValue()));
        }
        if (id.isDouble()) {
            double value = id.asDouble().getValue();
            return Double.isNaN(value) || Double.isInfinite(value)
                    ? Double.toString(value)
                    : text(new BigDecimal(value));
        }
        Decimal128 decimal = id.asDecimal128().getValue();
        if (decimal.isNaN() || decimal.isInfinite()) {
            return Double.toString(decimal.doubleValue());
        }
        // It has no negative zero.
        return decimal.doubleValue() == 0 ? text(BigDecimal.ZERO) : text(decimal.bigDecimalValue());
    }

    private static String text(BigDecimal number) {
        return number.signum() == 0 ? "0" : number.stripTrailingZeros().toString();
    }

    private static String json(BsonValue id) {
        return new BsonDocument("", id).toJson();
    }
}
