package dev.latchkey.jdbc;

import java.sql.SQLException;

/** HSQLDB from 2.5 on, with a clock of milliseconds. A row that is there is taken in one statement. */
final class HsqldbDialect implements Dialect {

    @Override
    public String name() {
        return "hsqldb";
    }

    @Override
    public String acquire() {
        return """
                UPDATE latchkey_lock
                SET fencing_token = CASE
                        WHEN token = :token AND expires_at > UNIX_MILLIS() * 1000
                        THEN fencing_token
                        ELSE GREATEST(
                            fencing_token + 1,
                            UNIX_MILLIS() * 1000) END,
                    token = :token, holder = :holder, readers = '-', version = version + 1,
                    acquired_at = UNIX_MILLIS() * 1000,
                    expires_at = GREATEST(expires_at, UNIX_MILLIS() * 1000 + :ttl)
                WHERE resource = :resource
                  AND (token = :token
                       OR expires_at <= UNIX_MILLIS() * 1000)
                  AND readers_until <= UNIX_MILLIS() * 1000""";
    }

    @Override
    public Answer answer() {
        return Answer.CHANGED_COLUMN;
    }

    /** {@inheritDoc} It does where a statement waits for those of others, unless it is to roll back instead. */
    @Override
    public boolean forgetsInterrupts() {
        return true;
    }

    @Override
    public String read() {
        return """
                SELECT token, holder, acquired_at, expires_at, fencing_token, readers, promoter, promoter_until,
                       1 AS waited, version, now_micros
                FROM (SELECT UNIX_MILLIS() * 1000 AS now_micros FROM (VALUES(0))) asked
                LEFT JOIN latchkey_lock ON resource = :resource""";
    }

    @Override
    public String renew() {
        return """
                UPDATE latchkey_lock
                SET expires_at = GREATEST(expires_at, UNIX_MILLIS() * 1000 + :ttl),
                    version = version + 1
                WHERE resource = :resource AND token = :token AND fencing_token = :fencing_token
                  AND expires_at > UNIX_MILLIS() * 1000""";
    }

    @Override
    public String guard() {
        return """
                UPDATE latchkey_lock
                SET version = version + 1
                WHERE resource = :resource AND token = :token AND fencing_token = :fencing_token
                  AND expires_at > UNIX_MILLIS() * 1000""";
    }

    @Override
    public boolean isMissingTable(SQLException e) {
        return "42501".equals(e.getSQLState());
    }
}
