package dev.latchkey.jdbc;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A shared hold, as it stands in the column {@code readers}: {@code token:expires_at:holder}, one after another. */
record SharedHold(String token, long expiresAt, String holder) {

    static List<SharedHold> read(String column) {
        return column.equals(Row.NOBODY)
                ? List.of()
                : Stream.of(column.split(" ")).map(SharedHold::readOne).toList();
    }

    private static SharedHold readOne(String text) {
        String[] parts = text.split(":", 3);
        return new SharedHold(parts[0], Long.parseLong(parts[1]), parts[2]);
    }

    static String write(List<SharedHold> readers) {
        return readers.isEmpty()
                ? Row.NOBODY
                : readers.stream()
                        .map(reader -> reader.token + ":" + reader.expiresAt + ":" + reader.holder)
                        .collect(Collectors.joining(" "));
    }
}
