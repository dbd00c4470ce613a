package dev.latchkey.jdbc;

import java.util.Optional;

/**
 * What comes of a look at a row: an answer, and what the row has to become for the answer to be true.
 *
 * @param answer what the caller is told
 * @param row the row to write; empty if nothing changes
 * @param letsOthersIn whether a waiter may now succeed
 */
record Decision<T>(T answer, Optional<Row> row, boolean letsOthersIn) {

    static <T> Decision<T> leave(T answer) {
        return new Decision<>(answer, Optional.empty(), false);
    }

    static <T> Decision<T> write(T answer, Row row) {
        return new Decision<>(answer, Optional.of(row), false);
    }

    static <T> Decision<T> free(T answer, Row row) {
        return new Decision<>(answer, Optional.of(row), true);
    }
}
