package dev.latchkey.spring;

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
        return value == null || STANDARD.canConvert(source, target)
                ? STANDARD.convertValue(value, source, target)
                : text(value);
    }

    /** An object that inherits its toString() has another text in each instance, and would exclude nobody. */
    String text(Object value) {
        String text = value.toString();
        if (!(value instanceof CharSequence)
                && text.endsWith("@" + Integer.toHexString(System.identityHashCode(value)))) {
            throw locked.wrongKey("a " + value.getClass().getTypeName()
                    + ", whose text differs in each instance: name what identifies it, such as its id");
        }
        return text;
    }
}
