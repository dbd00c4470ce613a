package dev.latchkey.console;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A JSON object on one line, without the help of a library. Not thread-safe. */
public final class Json {

    private final Map<String, String> members = new LinkedHashMap<>();

    /** Creates an object without members. */
    public Json() {}

    /**
     * Adds a string.
     *
     * @param name the name of the member
     * @param value its value; null becomes {@code null}
     * @return this
     */
    public Json put(String name, @Nullable String value) {
        return putRaw(name, value == null ? "null" : quote(value));
    }

    /**
     * Adds a whole number.
     *
     * @param name the name of the member
     * @param value its value; null becomes {@code null}
     * @return this
     */
    public Json put(String name, @Nullable Long value) {
        return putRaw(name, String.valueOf(value));
    }

    /**
     * Adds a whole number.
     *
     * @param name the name of the member
     * @param value its value; empty becomes {@code null}
     * @return this
     */
    public Json put(String name, OptionalLong value) {
        return put(name, value.isPresent() ? (Long) value.getAsLong() : null);
    }

    /**
     * Adds a truth value.
     *
     * @param name the name of the member
     * @param value its value
     * @return this
     */
    public Json put(String name, boolean value) {
        return putRaw(name, String.valueOf(value));
    }

    /**
     * Adds an array of objects.
     *
     * @param name the name of the member
     * @param values its elements
     * @return this
     */
    public Json put(String name, List<Json> values) {
        return putRaw(name, values.stream().map(Json::toString).collect(Collectors.joining(",", "[", "]")));
    }

    /**
     * Adds an array of objects.
     *
     * @param name the name of the member
     * @param values its elements; empty becomes {@code null}
     * @return this
     */
    public Json put(String name, Optional<List<Json>> values) {
        return values.isPresent() ? put(name, values.get()) : putRaw(name, "null");
    }

    private Json putRaw(String name, String value) {
        members.put(name, value);
        return this;
    }

    /**
     * Writes a string as JSON, so that it can also stand in a script of a page.
     *
     * @param text any text
     * @return the text in quotes, escaped
     */
    public static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.codePoints().forEach(codePoint -> quoted.append(escaped(codePoint)));
        return quoted.append('"').toString();
    }

    private static String escaped(int codePoint) {
        return switch (codePoint) {
            case '"' -> "\\\"";
            case '\\' -> "\\\\";
            case '\n' -> "\\n";
            case '\r' -> "\\r";
            case '\t' -> "\\t";
            default -> Text.isHidden(codePoint) ? hex(codePoint) : Character.toString(codePoint);
        };
    }

    private static String hex(int codePoint) {
        StringBuilder hex = new StringBuilder();
        for (char c : Character.toChars(codePoint)) {
            hex.append(String.format("\\u%04x", (int) c));
        }
        return hex.toString();
    }

    @Override
    public String toString() {
        return members.entrySet().stream()
                .map(member -> quote(member.getKey()) + ":" + member.getValue())
                .collect(Collectors.joining(",", "{", "}"));
    }
}
