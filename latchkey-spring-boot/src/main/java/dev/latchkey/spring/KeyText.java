package dev.latchkey.spring;

import java.util.Arrays;
import java.util.Calendar;
import java.util.Collection;
import java.util.Date;
import java.util.Deque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.stream.BaseStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.TypeConverter;
import org.springframework.expression.spel.support.StandardTypeConverter;

/**
 * Turns values into the text of a key, also those that an expression appends to a text.
 *
 * @param locked the method whose key it is
 */
record KeyText(LockedMethod locked) implements TypeConverter {

    private static final TypeConverter STANDARD = new StandardTypeConverter();

    @Override
    public boolean canConvert(@Nullable TypeDescriptor source, TypeDescriptor target) {
        return target.getType() == String.class || STANDARD.canConvert(source, target);
    }

    @Override
    public @Nullable Object convertValue(
            @Nullable Object value, @Nullable TypeDescriptor source, TypeDescriptor target) {
        if (value != null) {
            check(value, target);
        }
        return value == null || STANDARD.canConvert(source, target)
                ? STANDARD.convertValue(value, source, target)
                : text(value);
    }

    private void check(Object value, TypeDescriptor target) {
        if (isText(target.getType())) {
            checkAppended(value);
            return;
        }
        checkOrder(value, target.getType());
        if (isText(elementType(target))) {
            checkElements(value, target.getType());
        }
    }

    private static boolean isText(@Nullable Class<?> type) {
        return type != null && CharSequence.class.isAssignableFrom(type);
    }

    /** Of an array, or whatever else can be iterated over, as String.join() takes. */
    private static @Nullable Class<?> elementType(TypeDescriptor target) {
        TypeDescriptor each = target.getElementTypeDescriptor();
        return each != null
                ? each.getType()
                : target.getResolvableType().as(Iterable.class).getGeneric().resolve();
    }

    /**
     * A method that takes a collection or a map as it is, or a set, is trusted not to rely on an order, and one that takes
     * something sorted gets it so. Others do, as for an array.
     */
    private void checkOrder(Object value, Class<?> type) {
        if (value instanceof BaseStream) {
            throw unchecked(value);
        }
        boolean isTakenAsItIs =
                type.isInstance(value) && (Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type));
        boolean isSorted = SortedSet.class.isAssignableFrom(type) || SortedMap.class.isAssignableFrom(type);
        if (!isTakenAsItIs && !isSorted && type != Set.class) {
            checkOrdered(value);
        }
    }

    private void checkElements(Object value, Class<?> type) {
        if (value instanceof Collection<?> several) {
            several.forEach(this::checkElement);
        } else if (type == Iterable.class && value instanceof Iterable) {
            throw unchecked(value);
        } else if (!type.isInstance(value) || value instanceof Object[]) {
            checkAppended(value);
        }
    }

    /** Of an array, its elements become the text. */
    private void checkAppended(Object value) {
        if (value instanceof Object[] elements) {
            Arrays.asList(elements).forEach(this::checkElement);
        } else if (!value.getClass().isArray()) {
            checkSameEverywhere(value);
        }
    }

    String text(Object value) {
        checkSameEverywhere(value);
        return value.toString();
    }

    /** A text that differs in each instance, or each process, would exclude nobody. */
    private void checkSameEverywhere(Object value) {
        if (value instanceof CharSequence) {
            return;
        }
        checkOrdered(value);
        if (value instanceof Date || value instanceof Calendar) {
            throw differs(value, "time zone: use a type of java.time");
        }
        if (value.toString().endsWith("@" + Integer.toHexString(System.identityHashCode(value)))) {
            throw differs(value, "instance: name what identifies it, such as its id");
        }
        if (value instanceof Collection<?> several) {
            several.forEach(this::checkElement);
        } else if (value instanceof Map<?, ?> map) {
            map.forEach((key, one) -> {
                checkElement(key);
                checkElement(one);
            });
        } else if (value instanceof Optional<?> one) {
            one.ifPresent(this::checkSameEverywhere);
        }
    }

    private void checkOrdered(Object value) {
        if (!isOrdered(value)) {
            throw locked.wrongKey(
                    "a " + value.getClass().getTypeName() + ", whose order may differ in each process: sort it");
        }
    }

    private void checkElement(@Nullable Object element) {
        if (element != null) {
            checkSameEverywhere(element);
        }
    }

    /**
     * The order of a hash table is no promise, and that of {@code Set.of()} and {@code Map.of()} is another in each process. What has
     * an order that cannot be seen is to be copied to what is known to have one.
     */
    private static boolean isOrdered(Object value) {
        if (value instanceof Set<?> set) {
            return set.size() < 2 || set instanceof SortedSet || set instanceof LinkedHashSet || set instanceof EnumSet;
        }
        if (value instanceof Map<?, ?> map) {
            return map.size() < 2 || map instanceof SortedMap || map instanceof LinkedHashMap || map instanceof EnumMap;
        }
        // Neither the values of a map nor a priority queue have an order that is known.
        return !(value instanceof Collection<?> several)
                || several.size() < 2
                || several instanceof List
                || several instanceof Deque;
    }

    private IllegalArgumentException unchecked(Object value) {
        return locked.wrongKey("made from the elements of a " + value.getClass().getTypeName()
                + ": collect them to a list in a known order first");
    }

    private IllegalArgumentException differs(Object value, String where) {
        return locked.wrongKey("a " + value.getClass().getTypeName() + ", whose text differs in each " + where);
    }
}
