package dev.latchkey.jdbc;

/** MariaDB from 10.5 on, the first that answers an upsert with the row. */
final class MariaDbDialect implements MySqlFamily {

    @Override
    public String name() {
        return "mariadb";
    }

    /**
     * The columns are set from left to right, and each sees those before it as they have become: the fencing token first,
     * since it needs to know who held; then the token; the others then belong to the new hold if the token does.
     */
    @Override
    public String acquire() {
        return """
                INSERT INTO latchkey_lock
                    (resource, token, holder, acquired_at, expires_at, fencing_token,
                     readers, readers_until, promoter, promoter_until, waited, version)
                SELECT :resource, :token, :holder, asked.at, asked.at + :ttl, asked.at, '-', 0, '-', 0, 0, asked.at
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
                    expires_at = IF(latchkey_lock.token = VALUES(token), VALUES(expires_at), latchkey_lock.expires_at),
                    readers = IF(latchkey_lock.token = VALUES(token), '-', latchkey_lock.readers),
                    version = IF(
                        latchkey_lock.token = VALUES(token), latchkey_lock.version + 1, latchkey_lock.version)
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
