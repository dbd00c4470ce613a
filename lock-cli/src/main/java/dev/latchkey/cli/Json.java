package dev.latchkey.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A JSON object on one line, without the help of a library. Not thread-safe. */
final class Json {

    private final Map<String, String> members = new LinkedHashMap<>();

    Json put(String name, @Nullable String value) {
        return putRaw(name, value == null ? "null" : quote(value));
    }

    Json put(String name, @Nullable Long value) {
        return putRaw(name, String.valueOf(value));
    }

    Json put(String name, OptionalLong value) {
        return put(name, value.isPresent() ? (Long) value.getAsLong() : null);
    }

    Json put(String name, boolean value) {
        return putRaw(name, String.valueOf(value));
    }

    Json put(String name, List<Json> values) {
        return putRaw(name, values.stream().map(Json::toString).collect(Collectors.joining(",", "[", "]")));
    }

    private Json putRaw(String name, String value) {
        members.put(name, value);
        return this;
    }

    static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.chars().forEach(c -> quoted.append(escaped((char) c)));
        return quoted.append('"').toString();
    }

    private static String escaped(char c) {
        return switch (c) {
            case '"' -> "\\\"";
            case '\\' -> "\\\\";
            case '\n' -> "\\n";
            case '\r' -> "\\r";
            case '\t' -> "\\t";
            // For JavaScript, the last two end a line.
            case 0x7f, 0x2028, 0x2029 -> hex(c);
            default -> c < ' ' ? hex(c) : String.valueOf(c);
        };
    }

    private static String hex(char c) {
        return String.format("\\u%04x", (int) c);
    }

    @Override
    public String toString() {
        return members.entrySet().stream()
                .map(member -> quote(member.getKey()) + ":" + member.getValue())
                .collect(Collectors.joining(",", "{", "}"));
    }
}
