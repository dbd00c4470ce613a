package dev.latchkey.jdbc;

import java.sql.SQLException;

/** H2 from 2.0 on. A row that is there is taken in one statement; the first hold of a resource reads and inserts. */
final class H2Dialect implements Dialect {

    private static final int CONCURRENT_UPDATE = 90131;
    private static final int LOCK_TIMEOUT = 50200;

    @Override
    public String name() {
        return "h2";
    }

    @Override
    public String acquire() {
        return """
                UPDATE latchkey_lock
                SET fencing_token = CASE
                        WHEN token = :token AND expires_at > CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000000 AS BIGINT)
                        THEN fencing_token
                        ELSE GREATEST(
                            fencing_token + 1,
                            CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000000 AS BIGINT)) END,
                    token = :token, holder = :holder, readers = '-', version = version + 1,
                    acquired_at = CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000000 AS BIGINT),
                    expires_at = GREATEST(
                        expires_at, CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000000 AS BIGINT) + :ttl)
                WHERE resource = :resource
                  AND (token = :token
                       OR expires_at <= CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000000 AS BIGINT))
                  AND readers_until <= CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000000 AS BIGINT)""";
    }

    @Override
    public Answer answer() {
        return Answer.CHANGED_COLUMN;
    }

    @Override
    public String read() {
        return """
                SELECT token, holder, acquired_at, expires_at, fencing_token, readers, promoter, promoter_until,
                       1 AS waited, version, now_micros
                FROM (SELECT CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000000 AS BIGINT) AS now_micros) asked
                LEFT JOIN latchkey_lock ON resource = :resource""";
    }

    @Override
    public String renew() {
        return """
                UPDATE latchkey_lock
                SET expires_at = GREATEST(
                        expires_at, CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000000 AS BIGINT) + :ttl),
                    version = version + 1
                WHERE resource = :resource AND token = :token AND fencing_token = :fencing_token
                  AND expires_at > CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000000 AS BIGINT)""";
    }

    @Override
    public String guard() {
        return """
                UPDATE latchkey_lock
                SET version = version + 1
                WHERE resource = :resource AND token = :token AND fencing_token = :fencing_token
                  AND expires_at > CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000000 AS BIGINT)""";
    }

    @Override
    public boolean isTransient(SQLException e) {
        return e.getErrorCode() == CONCURRENT_UPDATE
                || e.getErrorCode() == LOCK_TIMEOUT
                || Dialect.super.isTransient(e);
    }

    @Override
    public boolean isMissingTable(SQLException e) {
        return String.valueOf(e.getSQLState()).startsWith("42S0");
    }
}
