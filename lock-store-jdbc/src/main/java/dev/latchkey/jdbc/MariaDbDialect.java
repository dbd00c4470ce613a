package dev.latchkey.jdbc;

/** MariaDB from 10.5 on, the first that answers an upsert with the row. */
final class MariaDbDialect implements MySqlFamily {

    @Override
    public String name() {
        return "mariadb";
    }

    @Override
    public String acquire() {
        return upsert("asked.at", NEXT_TOKEN) + """

                RETURNING token, fencing_token,
                    GREATEST(expires_at, readers_until)
                        - TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) AS remaining,
                    readers""";
    }

    @Override
    public Answer answer() {
        return Answer.ROW;
    }
}
