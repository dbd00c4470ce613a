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

    /** As in {@link MariaDbDialect}; {@code version} comes last, for it carries the answer. */
    @Override
    public String acquire() {
        return """
                INSERT INTO latchkey_lock
                    (resource, token, holder, acquired_at, expires_at, fencing_token,
                     readers, readers_until, promoter, promoter_until, waited, version)
                SELECT :resource, :token, :holder, asked.at, asked.at + :ttl, LAST_INSERT_ID(asked.at),
                       '-', 0, '-', 0, 0, asked.at
                FROM (SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) AS at) AS asked
                ON DUPLICATE KEY UPDATE
                    fencing_token = IF(
                        latchkey_lock.expires_at <= VALUES(acquired_at)
                            AND latchkey_lock.readers_until <= VALUES(acquired_at),
                        GREATEST(latchkey_lock.fencing_token + 1, VALUES(fencing_token)),
                        latchkey_lock.fencing_token),
                    token = IF(
                        latchkey_lock.expires_at <= VALUES(acquired_at)
                            AND latchkey_lock.readers_until <= VALUES(acquired_at),
                        VALUES(token),
                        latchkey_lock.token),
                    holder = IF(latchkey_lock.token = VALUES(token), VALUES(holder), latchkey_lock.holder),
                    acquired_at =
                        IF(latchkey_lock.token = VALUES(token), VALUES(acquired_at), latchkey_lock.acquired_at),
                    readers = IF(latchkey_lock.token = VALUES(token), '-', latchkey_lock.readers),
                    version = latchkey_lock.version + IF(
                        latchkey_lock.token = VALUES(token),
                        LAST_INSERT_ID(latchkey_lock.fencing_token) > 0,
                        0 * LAST_INSERT_ID(GREATEST(
                            0, (latchkey_lock.expires_at - TIMESTAMPDIFF(
                                MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))) DIV 1000))),
                    expires_at =
                        IF(latchkey_lock.token = VALUES(token), VALUES(expires_at), latchkey_lock.expires_at)""";
    }

    @Override
    public Answer answer() {
        return Answer.GENERATED_NUMBER;
    }
}
