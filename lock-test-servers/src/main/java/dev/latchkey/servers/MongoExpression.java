package dev.latchkey.servers;

import static de.bwaldvogel.mongo.backend.Missing.isNullOrMissing;

import de.bwaldvogel.mongo.backend.Missing;
import de.bwaldvogel.mongo.backend.Utils;
import de.bwaldvogel.mongo.backend.ValueComparator;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.MongoServerError;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Evaluates aggregation expressions as MongoDB 4.2 documents them. Knows the operators that locks need, and refuses all
 * others, those of later versions among them. The embedded server's own evaluation takes text in data for expressions, has
 * no {@code $let}, and cannot be given a clock.
 */
final class MongoExpression {

    private static final ValueComparator ORDER = ValueComparator.ascWithoutListHandling();
    private static final Object MISSING = Missing.getInstance();

    private final Map<String, Object> variables;

    private MongoExpression(Map<String, Object> variables) {
        this.variables = variables;
    }

    /**
     * Evaluates for one document.
     *
     * @param expression as it came over the wire
     * @param document what fields are taken from
     * @param now the same throughout one command
     * @return the value, or {@link Missing}
     */
    static @Nullable Object evaluate(@Nullable Object expression, Document document, Instant now) {
        return new MongoExpression(Map.of("ROOT", document, "CURRENT", document, "NOW", now)).value(expression);
    }

    private @Nullable Object value(@Nullable Object expression) {
        if (expression instanceof String text && text.startsWith("$$")) {
            return variable(text.substring(2));
        }
        if (expression instanceof String text && text.startsWith("$")) {
            return path(variables.get("CURRENT"), text.substring(1));
        }
        if (expression instanceof Collection<?> list) {
            return values(list);
        }
        return expression instanceof Document document ? document(document) : expression;
    }

    private List<@Nullable Object> values(Collection<?> list) {
        List<@Nullable Object> values = new ArrayList<>();
        for (Object element : list) {
            Object value = value(element);
            values.add(value == MISSING ? null : value);
        }
        return values;
    }

    private @Nullable Object document(Document expression) {
        String first =
                expression.isEmpty() ? "" : expression.keySet().iterator().next();
        if (first.startsWith("$")) {
            if (expression.size() != 1) {
                throw new MongoServerError(15983, "An object representing an expression must have exactly one field");
            }
            return apply(first, expression.get(first));
        }
        Document object = new Document();
        expression.forEach((name, part) -> {
            Object value = value(part);
            if (value != MISSING) {
                object.put(name, value);
            }
        });
        return object;
    }

    private @Nullable Object variable(String name) {
        int dot = name.indexOf('.');
        String plain = dot < 0 ? name : name.substring(0, dot);
        if (!variables.containsKey(plain)) {
            throw new MongoServerError(17276, "Use of undefined variable: " + plain);
        }
        Object value = variables.get(plain);
        return dot < 0 ? value : path(value, name.substring(dot + 1));
    }

    private static @Nullable Object path(@Nullable Object from, String path) {
        if (from instanceof Collection<?> list) {
            List<@Nullable Object> found = new ArrayList<>();
            for (Object element : list) {
                Object value = path(element, path);
                if (value != MISSING) {
                    found.add(value);
                }
            }
            return found;
        }
        if (!(from instanceof Document document)) {
            return MISSING;
        }
        int dot = path.indexOf('.');
        Object value = document.getOrMissing(dot < 0 ? path : path.substring(0, dot));
        return dot < 0 ? value : path(value, path.substring(dot + 1));
    }

    private @Nullable Object apply(String operator, @Nullable Object operands) {
        return switch (operator) {
            case "$literal" -> operands;
            case "$cond" -> value(isTrue(operand(operands, 3, 0)) ? operand(operands, 3, 1) : operand(operands, 3, 2));
            case "$and" -> all(operands).stream().allMatch(this::isTrue);
            case "$or" -> all(operands).stream().anyMatch(this::isTrue);
            case "$not" -> !isTrue(only(operands));
            case "$eq" -> compare(operands) == 0;
            case "$ne" -> compare(operands) != 0;
            case "$gt" -> compare(operands) > 0;
            case "$gte" -> compare(operands) >= 0;
            case "$lt" -> compare(operands) < 0;
            case "$lte" -> compare(operands) <= 0;
            case "$ifNull" -> {
                Object value = value(operand(operands, 2, 0));
                yield isNullOrMissing(value) ? value(operand(operands, 2, 1)) : value;
            }
            case "$add" -> sum(values(all(operands)));
            case "$multiply" ->
                values(all(operands)).stream().mapToLong(MongoExpression::whole).reduce(1, Math::multiplyExact);
            case "$toLong" -> toLong(value(only(operands)));
            case "$max" -> greatest(value(operands));
            case "$concatArrays" -> concat(values(all(operands)));
            case "$mergeObjects" -> merge(values(all(operands)));
            case "$filter" -> filter((Document) required(operands));
            case "$let" -> let((Document) required(operands));
            default ->
                throw new MongoServerError(
                        168, "InvalidPipelineOperator", "Unrecognized expression '" + operator + "'");
        };
    }

    private static List<?> all(@Nullable Object operands) {
        return operands instanceof List<?> list ? list : List.of(required(operands));
    }

    private static @Nullable Object operand(@Nullable Object operands, int count, int index) {
        List<?> all = all(operands);
        if (all.size() != count) {
            throw new MongoServerError(
                    16020, "Expression takes exactly " + count + " arguments. " + all.size() + " were passed in.");
        }
        return all.get(index);
    }

    private static @Nullable Object only(@Nullable Object operands) {
        return operand(operands, 1, 0);
    }

    private static Object required(@Nullable Object value) {
        if (value == null) {
            throw new MongoServerError(40400, "an operand is required");
        }
        return value;
    }

    private boolean isTrue(@Nullable Object expression) {
        return Utils.isTrue(value(expression));
    }

    private int compare(@Nullable Object operands) {
        Object one = value(operand(operands, 2, 0));
        Object other = value(operand(operands, 2, 1));
        if (one == MISSING || other == MISSING) {
            // Less than null, which the server's own order does not know.
            return Boolean.compare(one != MISSING, other != MISSING);
        }
        return ORDER.compare(one, other);
    }

    private static @Nullable Object sum(List<?> values) {
        if (values.contains(null)) {
            return null;
        }
        long sum = 0;
        boolean isDate = false;
        for (Object value : values) {
            isDate |= value instanceof Instant;
            sum = Math.addExact(sum, value instanceof Instant date ? date.toEpochMilli() : whole(value));
        }
        return isDate ? Instant.ofEpochMilli(sum) : (Object) sum;
    }

    private static long whole(@Nullable Object value) {
        if (value instanceof Long || value instanceof Integer) {
            return ((Number) value).longValue();
        }
        throw new MongoServerError(16554, "only whole numbers and dates are supported here");
    }

    private static @Nullable Object toLong(@Nullable Object value) {
        return isNullOrMissing(value)
                ? null
                : value instanceof Instant date ? (Object) date.toEpochMilli() : whole(value);
    }

    private static @Nullable Object greatest(@Nullable Object values) {
        Collection<?> all = values instanceof Collection<?> list ? list : List.of(required(values));
        return all.stream().filter(value -> !isNullOrMissing(value)).max(ORDER).orElse(null);
    }

    private static @Nullable Object concat(List<?> lists) {
        List<@Nullable Object> all = new ArrayList<>();
        for (Object list : lists) {
            if (list == null) {
                return null;
            }
            if (!(list instanceof Collection<?> elements)) {
                throw new MongoServerError(28664, "$concatArrays only supports arrays");
            }
            all.addAll(elements);
        }
        return all;
    }

    private static Document merge(List<?> objects) {
        Document merged = new Document();
        for (Object object : objects) {
            if (object != null && !(object instanceof Document)) {
                throw new MongoServerError(40400, "$mergeObjects requires object inputs");
            }
            if (object instanceof Document document) {
                document.forEach(merged::put);
            }
        }
        return merged;
    }

    private @Nullable Object filter(Document operands) {
        Object input = value(operands.get("input"));
        if (isNullOrMissing(input)) {
            return null;
        }
        if (!(input instanceof Collection<?> list)) {
            throw new MongoServerError(28651, "input to $filter must be an array");
        }
        String name = String.valueOf(operands.getOrDefault("as", "this"));
        List<@Nullable Object> passed = new ArrayList<>();
        for (Object element : list) {
            if (with(name, element).isTrue(operands.get("cond"))) {
                passed.add(element);
            }
        }
        return passed;
    }

    private @Nullable Object let(Document operands) {
        MongoExpression inner = this;
        for (Map.Entry<String, Object> one : ((Document) required(operands.get("vars"))).entrySet()) {
            inner = inner.with(one.getKey(), value(one.getValue()));
        }
        return inner.value(operands.get("in"));
    }

    private MongoExpression with(String name, @Nullable Object value) {
        Map<String, Object> more = new HashMap<>(variables);
        more.put(name, value == null ? MISSING : value);
        return new MongoExpression(more);
    }
}
