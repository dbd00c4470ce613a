package dev.latchkey.jdbc;

/**
 * MySQL from 8.0 on. It cannot answer an upsert with the row, but with one number in the place of a generated key, which
 * costs no statement of its own.
 */
final class MySqlDialect implements MySqlFamily {

    @Override
    public String name() {
        return "mysql";
    }

    /** The fencing token carries the answer: it is the first column that is set, and sees the row as it was. */
    @Override
    public String acquire() {
        return upsert("LAST_INSERT_ID(asked.at)", """
                IF(%s,
                        LAST_INSERT_ID(%s),
                        latchkey_lock.fencing_token + 0 * LAST_INSERT_ID(GREATEST(
                            0, (latchkey_lock.expires_at - TIMESTAMPDIFF(
                                MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))) DIV 1000)))""".formatted(GRANTS, NEXT_TOKEN));
    }

    @Override
    public Answer answer() {
        return Answer.GENERATED_NUMBER;
    }
}
