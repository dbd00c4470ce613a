package dev.latchkey.documents;

import java.util.List;
import java.util.stream.Stream;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonElement;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;

/**
 * Aggregation expressions with the operators of MongoDB 4.2. The arguments are expressions, or text that is safe in one.
 *
 * <p>{@code lock-store-mongodb} has a similar class. Each method only names an operator that MongoDB defines, so the two
 * cannot drift apart, and sharing them would take one more published artifact.
 */
final class Expressions {

    static final BsonValue NOW = new BsonString("$$NOW");
    static final BsonValue UNCHANGED = new BsonString("$$ROOT");
    static final BsonValue NONE = new BsonArray();

    private Expressions() {}

    static BsonValue field(String path) {
        return new BsonString("$" + path);
    }

    static BsonValue variable(String path) {
        return new BsonString("$$" + path);
    }

    /** Text that does not begin with a dollar sign, for example a token or a state. */
    static BsonValue text(String plain) {
        return new BsonString(plain);
    }

    static BsonValue number(long number) {
        return new BsonInt64(number);
    }

    /** Data of the application, in which a dollar sign has no meaning. */
    static BsonValue literal(BsonValue data) {
        return new BsonDocument("$literal", data);
    }

    static BsonElement to(String name, BsonValue value) {
        return new BsonElement(name, value);
    }

    static BsonDocument object(BsonElement... fields) {
        return new BsonDocument(List.of(fields));
    }

    static BsonArray array(BsonValue... values) {
        return new BsonArray(List.of(values));
    }

    static BsonValue cond(BsonValue test, BsonValue then, BsonValue otherwise) {
        return apply("$cond", test, then, otherwise);
    }

    static BsonValue and(BsonValue... all) {
        return apply("$and", all);
    }

    static BsonValue or(BsonValue... any) {
        return apply("$or", any);
    }

    static BsonValue not(BsonValue expression) {
        return apply("$not", expression);
    }

    static BsonValue equal(BsonValue one, BsonValue other) {
        return apply("$eq", one, other);
    }

    static BsonValue differ(BsonValue one, BsonValue other) {
        return apply("$ne", one, other);
    }

    static BsonValue later(BsonValue one, BsonValue other) {
        return apply("$gt", one, other);
    }

    static BsonValue sum(BsonValue... summands) {
        return apply("$add", summands);
    }

    static BsonValue product(BsonValue... factors) {
        return apply("$multiply", factors);
    }

    static BsonValue greatest(BsonValue... values) {
        return apply("$max", values);
    }

    static BsonValue orElse(BsonValue value, BsonValue otherwise) {
        return apply("$ifNull", value, otherwise);
    }

    static BsonValue toLong(BsonValue value) {
        return new BsonDocument("$toLong", value);
    }

    static BsonValue concat(BsonValue... lists) {
        return apply("$concatArrays", lists);
    }

    /** Returns the elements that pass the test, in which each is {@code $$one}. */
    static BsonValue filter(BsonValue list, BsonValue test) {
        return new BsonDocument("$filter", object(to("input", list), to("as", text("one")), to("cond", test)));
    }

    static BsonDocument merged(BsonValue... objects) {
        return new BsonDocument(
                "$mergeObjects", new BsonArray(Stream.of(objects).toList()));
    }

    static List<BsonDocument> stages(BsonValue newDocument) {
        return List.of(new BsonDocument("$replaceWith", newDocument));
    }

    /** Returns a filter that matches if the expression is true. Servers refuse it in an upsert. */
    static BsonDocument where(BsonValue expression) {
        return new BsonDocument("$expr", expression);
    }

    private static BsonValue apply(String operator, BsonValue... operands) {
        return new BsonDocument(operator, new BsonArray(Stream.of(operands).toList()));
    }
}
