package dev.latchkey.documents;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Objects;
import org.bson.BsonDateTime;
import org.bson.BsonDecimal128;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.bson.types.Decimal128;
import org.jspecify.annotations.Nullable;

/**
 * The version of a document that somebody has loaded. It can be written as text, for example into a hidden field of a
 * form. Pass on the version that was loaded with the form: code that reads the version again when the form is submitted
 * has not checked anything.
 *
 * <p>Immutable and thread-safe. Two versions are equal if their types and values are equal.
 */
public final class Version {

    /** How the versions of a collection are stored. */
    public enum Type {
        /** A 32-bit integer that counts from 1. */
        INT(BsonType.INT32),
        /** A 64-bit integer that counts from 1. */
        LONG(BsonType.INT64),
        /** A decimal number that counts from 1. */
        DECIMAL128(BsonType.DECIMAL128),
        /**
         * The time of the change in milliseconds, by the clock of the writer, but always later than the previous version:
         * two changes never have the same version, whatever the clocks do.
         */
        DATE(BsonType.DATE_TIME);

        private final BsonType stored;

        Type(BsonType stored) {
            this.stored = stored;
        }

        Version first() {
            return switch (this) {
                case INT -> of(1);
                case LONG -> of(1L);
                case DECIMAL128 -> of(new Decimal128(1));
                case DATE -> of(Instant.now());
            };
        }
    }

    private final Type type;
    private final BsonValue value;

    private Version(Type type, BsonValue value) {
        this.type = type;
        this.value = value;
    }

    /**
     * Returns a version of the type {@link Type#INT}.
     *
     * @param value the value in the document
     * @return the version
     */
    public static Version of(int value) {
        return new Version(Type.INT, new BsonInt32(value));
    }

    /**
     * Returns a version of the type {@link Type#LONG}.
     *
     * @param value the value in the document
     * @return the version
     */
    public static Version of(long value) {
        return new Version(Type.LONG, new BsonInt64(value));
    }

    /**
     * Returns a version of the type {@link Type#DECIMAL128}.
     *
     * @param value the value in the document
     * @return the version
     */
    public static Version of(Decimal128 value) {
        return new Version(Type.DECIMAL128, new BsonDecimal128(value));
    }

    /**
     * Returns a version of the type {@link Type#DATE}.
     *
     * @param value the value in the document, truncated to milliseconds
     * @return the version
     */
    public static Version of(Instant value) {
        return new Version(Type.DATE, new BsonDateTime(value.toEpochMilli()));
    }

    /**
     * Reads the text that {@link #toString()} returned.
     *
     * @param text for example {@code int:184}, {@code long:7}, {@code decimal128:3},
     *     {@code date:2030-01-31T12:00:00.123Z}
     * @return the version
     * @throws IllegalArgumentException if {@code text} is anything else
     */
    public static Version parse(String text) {
        int colon = text.indexOf(':');
        String value = text.substring(colon + 1);
        try {
            return switch (colon < 0 ? "" : text.substring(0, colon)) {
                case "int" -> of(Integer.parseInt(value));
                case "long" -> of(Long.parseLong(value));
                case "decimal128" -> of(Decimal128.parse(value));
                case "date" -> of(Instant.parse(value));
                default -> throw notAVersion(text, null);
            };
        } catch (NumberFormatException | DateTimeParseException e) {
            throw notAVersion(text, e);
        }
    }

    private static IllegalArgumentException notAVersion(String text, @Nullable Exception cause) {
        String shown = text.length() <= 60 ? text : text.substring(0, 60) + "…";
        return new IllegalArgumentException(
                "\"" + shown + "\" is no version: it must be as toString() gives it, such as int:184", cause);
    }

    /** Returns the value of the version field. */
    static Version read(BsonValue value, Type type, String where) {
        if (value.getBsonType() != type.stored) {
            throw new IllegalStateException(where + " has a version of the BSON type " + value.getBsonType()
                    + ", where this collection has versions of the type " + type + " (" + type.stored
                    + "): set the type of the collection, or convert the field");
        }
        return new Version(type, value);
    }

    Version next() {
        return switch (type) {
            case INT -> of(Math.max(1, Math.addExact(value.asInt32().getValue(), 1)));
            case LONG -> of(Math.max(1L, Math.addExact(value.asInt64().getValue(), 1L)));
            case DECIMAL128 ->
                of(new Decimal128(
                        value.asDecimal128().getValue().bigDecimalValue().add(BigDecimal.ONE)));
            case DATE ->
                of(Instant.ofEpochMilli(Math.max(
                        Instant.now().toEpochMilli(), value.asDateTime().getValue() + 1)));
        };
    }

    Type type() {
        return type;
    }

    /** Zero: the version of an object that was never stored, or was read from a document without a version. */
    static boolean isNone(BsonValue value) {
        return value.isNull() || (value.isNumber() && value.asNumber().doubleValue() == 0);
    }

    BsonValue value() {
        return value;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Version version && type == version.type && value.equals(version.value);
    }

    @Override
    public int hashCode() {
        return Objects.hash(type, value);
    }

    /** Returns the version as text that {@link #parse} reads, for example {@code int:184}. */
    @Override
    public String toString() {
        Object plain = switch (type) {
            case INT -> value.asInt32().getValue();
            case LONG -> value.asInt64().getValue();
            case DECIMAL128 -> value.asDecimal128().getValue();
            case DATE -> Instant.ofEpochMilli(value.asDateTime().getValue());
        };
        return type.name().toLowerCase(Locale.ROOT) + ":" + plain;
    }
}
