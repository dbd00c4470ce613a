package dev.latchkey.jdbc;

/**
 * How sticky holds are recalled: a statement that refuses somebody because of one tells all who listen, also the store that keeps
 * it. The text of its holder ends with when it was first recalled ({@link HolderText}); {@code fencing_token} is the last one that
 * its holder may use, and {@code promoter_until} the one in use, for nobody promotes beside an exclusive hold.
 */
final class PostgreSqlSticky implements StickyDialect {

    /** What the text of the holder of a sticky hold is like: the only one with two bars. */
    static final String KEPT = "LIKE '%|%|~%'";

    private static final String NOW = "CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint)";

    /** Whoever holds it already reads the row. */
    @Override
    public String acquire() {
        return """
                INSERT INTO latchkey_lock AS held
                    (resource, token, holder, acquired_at, expires_at, fencing_token,
                     readers, readers_until, promoter, promoter_until, waited, version)
                SELECT :resource, :token, :holder, asked.at, asked.at + :ttl, asked.at + :reserved,
                       '-', 0, '-', asked.at, 0, asked.at
                FROM (SELECT CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint) AS at) AS asked
                ON CONFLICT (resource) DO UPDATE
                SET token = excluded.token, holder = excluded.holder, acquired_at = excluded.acquired_at,
                    expires_at = excluded.expires_at,
                    fencing_token = GREATEST(held.fencing_token + 1, excluded.acquired_at) + :reserved,
                    readers = '-', readers_until = 0,
                    promoter = '-', promoter_until = GREATEST(held.fencing_token + 1, excluded.acquired_at),
                    waited = 0, version = held.version + 1
                WHERE held.expires_at <= excluded.acquired_at AND held.readers_until <= excluded.acquired_at
                RETURNING promoter_until""";
    }

    /** What was reserved before stays so: a renewal may come late. */
    @Override
    public String renew() {
        return """
                UPDATE latchkey_lock
                SET expires_at = GREATEST(expires_at, %1$s + :ttl),
                    fencing_token = GREATEST(fencing_token, :fencing_token + :reserved), promoter_until = :fencing_token,
                    version = version + 1
                WHERE resource = :resource AND token = :token AND expires_at > %1$s AND holder %2$s
                  AND :fencing_token BETWEEN promoter_until AND fencing_token""".formatted(NOW, KEPT);
    }

    /** With the last token that was used: no other was. */
    @Override
    public String release(String ordinary) {
        return ordinary.replace("SET token = '-',", """
                SET fencing_token = CASE WHEN holder %s AND :fencing_token BETWEEN promoter_until AND fencing_token
                                         THEN :fencing_token ELSE fencing_token END,
                    promoter_until = 0, token = '-',""".formatted(KEPT));
    }

    @Override
    public String read() {
        return """
                SELECT held.*, asked.now_micros,
                       CASE WHEN (held.token <> :token AND held.expires_at > asked.now_micros AND held.holder %1$s)
                              OR (:exclusive = 1 AND held.readers_until > asked.now_micros AND held.readers %1$s)
                            THEN CAST(pg_notify(:channel, '~' || held.resource) AS text) END AS recalled
                FROM (SELECT CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint) AS now_micros) AS asked
                LEFT JOIN latchkey_lock AS held ON held.resource = :resource""".formatted(KEPT);
    }

    @Override
    public String announce() {
        return "SELECT pg_notify(:channel, :message)";
    }
}
